import { type Kysely, sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { addDays, type Day } from '../domain/calendar.ts';
import type { Policy } from './post.ts';

export type Policies = { of(platform: string | null): Policy };

type RefundRule = { from: Day; commission: 'kept' | 'returned' };

const SETTING = 'refund_commission';

/**
 * What the journal needs beside a history: each platform's opening, and what became of commissions on refunds when.
 * Inside a transaction it shares the lock of who changes either: what is posted by these policies is committed before
 * they change, and is found by the repost that follows.
 */
export async function readPolicies(
  context: Context,
  trx?: Transaction<Database>,
  lock: 'none' | 'share' = trx ? 'share' : 'none',
): Promise<Policies> {
  const db = trx ?? context.db;
  const rules = await readRules(db, lock);
  const openings = await db.selectFrom('openings').select(['platform', 'day']).where('in_force', '=', 1).execute();
  const days = new Map(openings.map((row) => [row.platform, row.day]));
  const returnsCommission = (day: Day): boolean =>
    rules.findLast((rule) => rule.from <= day)?.commission === 'returned';
  return { of: (platform) => ({ openingDay: days.get(platform ?? 'none'), returnsCommission }) };
}

/** Waits for every applier under way and keeps new ones waiting, until this transaction ends. */
export async function lockPolicies(trx: Transaction<Database>): Promise<void> {
  await readRules(trx, 'update');
}

/**
 * Makes REFUND_COMMISSION of the environment hold: from the beginning on a new ledger, else from tomorrow, so that what
 * was booked, today's refunds included, stays as it was. Called by `serve` alone: a command run from another shell must
 * not change the books.
 */
export async function settleRefundRule(context: Context): Promise<void> {
  const { REFUND_COMMISSION: commission } = context.config;
  await transact(context.db, async (trx) => {
    const rules = await readRules(trx, 'update');
    if (rules.at(-1)?.commission === commission) return;
    const from = addDays(context.calendar.dayOf(context.clock.now()), 1);
    const kept = rules.filter((rule) => rule.from < from);
    const value = Buffer.from(JSON.stringify([...kept, { from, commission }]));
    await trx.updateTable('settings').set({ value }).where('name', '=', SETTING).execute();
    context.log.warn({ from, commission }, 'REFUND_COMMISSION changed: it holds from this day on');
  });
}

async function readRules(db: Kysely<Database>, lock: 'none' | 'share' | 'update'): Promise<RefundRule[]> {
  // LOCK IN SHARE MODE is the one spelling that MariaDB and MySQL share
  const end = { none: sql``, share: sql`LOCK IN SHARE MODE`, update: sql`FOR UPDATE` }[lock];
  const { rows } = await sql<{ value: Buffer }>`SELECT value FROM settings WHERE name = ${SETTING} ${end}`.execute(db);
  return rows[0] ? (JSON.parse(rows[0].value.toString()) as RefundRule[]) : [];
}
