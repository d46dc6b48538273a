import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { Policy } from './plan-entries.ts';

export type Policies = { forPlatform(platform: string | null): Policy };

type RefundRule = { from: Day; commission: 'kept' | 'returned' };

const SETTING = 'refund_commission';

// LOCK IN SHARE MODE is the one spelling that MariaDB and MySQL share
const LOCKS = { none: sql``, share: sql`LOCK IN SHARE MODE` };

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
  const end = LOCKS[lock];
  // one question for both, since each change of a transaction asks it
  const { rows } = await sql<{ rules: Buffer | null; platform: string | null; day: Day }>`
    (SELECT value AS rules, NULL AS platform, NULL AS day FROM settings WHERE name = ${SETTING} ${end})
    UNION ALL
    (SELECT NULL, platform, day FROM openings WHERE in_force = 1 ${end})`.execute(trx ?? context.db);
  const rules = rows.flatMap((row) => (row.rules ? parseRules(row.rules) : []));
  const days = new Map(rows.flatMap((row) => (row.platform === null ? [] : [[row.platform, row.day]])));
  const returnsCommission = (day: Day): boolean =>
    rules.findLast((rule) => rule.from <= day)?.commission === 'returned';
  return { forPlatform: (platform) => ({ openingDay: days.get(platform ?? NO_PLATFORM), returnsCommission }) };
}

/** Waits for every applier under way and keeps new ones waiting, until this transaction ends. */
export async function lockPolicies(trx: Transaction<Database>): Promise<void> {
  await lockRules(trx);
}

/**
 * Makes REFUND_COMMISSION of the environment hold: from the beginning on a new ledger, else from tomorrow, so that what
 * was booked, today's refunds included, stays as it was. Called by `serve` alone: a command run from another shell must
 * not change the books.
 */
export async function applyRefundRule(context: Context): Promise<void> {
  const { REFUND_COMMISSION: commission } = context.config;
  await transact(context.db, async (trx) => {
    const rules = await lockRules(trx);
    if (rules.at(-1)?.commission === commission) return;
    const from = addDays(context.calendar.dayOf(context.clock.now()), 1);
    const kept = rules.filter((rule) => rule.from < from);
    const value = Buffer.from(JSON.stringify([...kept, { from, commission }]));
    await trx.updateTable('settings').set({ value }).where('name', '=', SETTING).execute();
    context.log.warn({ from, commission }, 'REFUND_COMMISSION changed: it holds from this day on');
  });
}

/** Locked against whoever else changes them, and against every applier. */
async function lockRules(trx: Transaction<Database>): Promise<RefundRule[]> {
  const row = await trx
    .selectFrom('settings')
    .select('value')
    .where('name', '=', SETTING)
    .forUpdate()
    .executeTakeFirst();
  return row ? parseRules(row.value) : [];
}

function parseRules(value: Buffer): RefundRule[] {
  return JSON.parse(value.toString()) as RefundRule[];
}
