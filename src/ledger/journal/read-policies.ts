import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { readSetting } from '../../database/keys/settings.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { Policy } from './plan-entries.ts';

export type Policies = {
  forPlatform(platform: string | null): Policy;
  /** Whether payments are expected, or once were: each change of a payment leaves work for the follower then. */
  expectsPayments: boolean;
};

type PolicyRow = { kind: string; value: Buffer | null; platform: string | null; day: Day };

type RefundRule = { from: Day; commission: 'kept' | 'returned' };

const SETTING = 'refund_commission';
const EXPECTING = 'expects_payments';

// MariaDB and MySQL have only LOCK IN SHARE MODE in common
const LOCKS = { none: sql``, share: sql`LOCK IN SHARE MODE` };

/**
 * Reads each platform's opening, the rule for commissions on refunds by day, and which other rows an applier needs. In a transaction it takes a shared
 * lock: entries posted under these policies commit before the policies change, so the repost after a change finds them.
 */
export async function readPolicies(
  context: Context,
  trx?: Transaction<Database>,
  lock: 'none' | 'share' = trx ? 'share' : 'none',
): Promise<Policies> {
  const end = LOCKS[lock];
  // one statement, since each change of a transaction reads all; the rules first: their lock orders it with the writers
  const { rows } = await sql<PolicyRow>`
    (SELECT 'rules' AS kind, value, NULL AS platform, NULL AS day FROM settings WHERE name = ${SETTING} ${end})
    UNION ALL
    (SELECT 'expects', NULL, NULL, NULL FROM settings WHERE name = ${EXPECTING} ${end})
    UNION ALL
    (SELECT 'opening', NULL, platform, day FROM openings WHERE in_force = 1 ${end})`.execute(trx ?? context.db);
  const rules = rows.flatMap((row) => (row.value ? parseRules(row.value) : []));
  const days = new Map(rows.flatMap((row) => (row.platform === null ? [] : [[row.platform, row.day]])));
  const returnsCommission = (day: Day): boolean =>
    rules.findLast((rule) => rule.from <= day)?.commission === 'returned';
  return {
    forPlatform: (platform) => ({ openingDay: days.get(platform ?? NO_PLATFORM), returnsCommission }),
    expectsPayments: rows.some(({ kind }) => kind === 'expects'),
  };
}

/** Waits for running appliers and blocks new ones until this transaction ends. */
export async function lockPolicies(trx: Transaction<Database>): Promise<void> {
  await lockRules(trx);
}

/**
 * Has each change of a payment leave work from now on. It waits for the appliers that leave none, so what they wrote is
 * committed once this returns. Expected payments that another version decided meanwhile are decided again.
 */
export async function expectPayments(context: Context): Promise<void> {
  if (await readSetting(context.db, EXPECTING)) return;
  const now = context.clock.now();
  await transact(context.db, async (trx) => {
    await lockPolicies(trx);
    const row = { name: EXPECTING, value: Buffer.from(now.toISOString()) };
    await trx.insertInto('settings').values(row).onDuplicateKeyUpdate({ name: EXPECTING }).execute();
    await sql`INSERT INTO expected_work (expected_seq, created_at, due_at)
      SELECT seq, ${now}, ${now} FROM expected_payments`.execute(trx);
  });
}

/**
 * Stores REFUND_COMMISSION as the rule: from the start for a new ledger, else from tomorrow, so that entries booked
 * until today, today's refunds included, do not change. Only `serve` calls it: a command run from another shell must
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

/** Reads the rules and locks them against other changes and every applier. */
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
