import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { settle } from '../database/settings.ts';
import type { Day } from '../domain/calendar.ts';
import type { Policy } from './post.ts';

export type Policies = { of(platform: string | null): Policy };

type RefundRule = { from: Day; commission: 'kept' | 'returned' };

/** What the journal needs beside a history: each platform's opening, and what became of commissions on refunds when. */
export async function readPolicies(context: Context, db: Reader = context.db): Promise<Policies> {
  const openings = await db.selectFrom('openings').select(['platform', 'day']).where('in_force', '=', 1).execute();
  const days = new Map(openings.map((row) => [row.platform, row.day]));
  const rules = await readRefundRules(context);
  const returnsCommission = (day: Day): boolean =>
    rules.findLast((rule) => rule.from <= day)?.commission === 'returned';
  return { of: (platform) => ({ openingDay: days.get(platform ?? 'none'), returnsCommission }) };
}

const known = new WeakMap<Context, RefundRule[]>();

/** REFUND_COMMISSION is stored with the day from which it holds: a change of it leaves the past as it was booked. */
async function readRefundRules(context: Context): Promise<RefundRule[]> {
  const cached = known.get(context);
  if (cached) return cached;
  const commission = context.config.REFUND_COMMISSION;
  const first: RefundRule[] = [{ from: '0000-01-01', commission }];
  const stored = await settle(context.db, 'refund_commission', () => Buffer.from(JSON.stringify(first)));
  const rules = JSON.parse(stored.toString()) as RefundRule[];
  if (rules.at(-1)?.commission !== commission) {
    rules.push({ from: context.calendar.dayOf(context.clock.now()), commission });
    const value = Buffer.from(JSON.stringify(rules));
    await context.db.updateTable('settings').set({ value }).where('name', '=', 'refund_commission').execute();
  }
  known.set(context, rules);
  return rules;
}
