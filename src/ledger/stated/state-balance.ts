/**
 * Balances that a person read from the provider's panel, compared with the ledger: Available + Held of the entries up
 * to that instant. A statement agrees if it equals the ledger just before or just after its second. The comparison
 * counts once the statement's day was read completely past its instant; until then, a difference may come from unread
 * payments.
 */
import { type Expression, type Selectable, type SqlBool, sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { createId } from '../../domain/ids.ts';
import { formatAmount } from '../../domain/money.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import { resolveMismatches } from '../../mismatches/resolve-mismatches.ts';
import { readBalances } from '../../seal/read-balances.ts';
import { nameAccount } from '../journal/plan-entries.ts';
import { checkInstantPassed, checkPlatformKnown } from './check-stated.ts';

export type Statement = {
  platform: string;
  at: Date;
  balanceCents: bigint;
  actor: string;
  /** Confirms a platform that no transaction shows yet. */
  newPlatform?: boolean | undefined;
};

/**
 * Stores a statement. The caller calls `compareStatements` next, after the commit: it reads a snapshot.
 * @returns its id.
 * @throws ConfereError `invalid_request` for a future instant or an unseen platform.
 */
export async function storeStatement(context: Context, statement: Statement): Promise<string> {
  const id = createId('st');
  checkInstantPassed(context, statement.at);
  await checkPlatformKnown(context.db, statement);
  await context.db
    .insertInto('statements')
    .values({
      id,
      platform: statement.platform,
      at: statement.at,
      at_wall: context.calendar.toWallTime(statement.at),
      balance_cents: statement.balanceCents,
      created_at: context.clock.now(),
      actor: statement.actor,
    })
    .execute();
  return id;
}

/**
 * Compares each platform's newest statement whose day was read past its instant. A difference opens `balance_differs`;
 * an agreement (of a later statement, or after an adjustment) resolves it.
 */
export async function compareStatements(context: Context): Promise<void> {
  const now = context.clock.now();
  const platforms = await context.db.selectFrom('statements').select('platform').distinct().execute();
  let count = 0;
  for (const { platform } of platforms) {
    const row = await findReadPast(context, platform);
    if (!row) continue;
    count++;
    const ledger = await readLedgerBalance(context, row);
    const scope = row.platform;
    await transact(
      context.db,
      async (trx) => {
        await trx.updateTable('statements').set({ compared_at: now }).where('seq', '=', row.seq).execute();
        if (ledger === row.balance_cents) {
          await resolveMismatches(trx, [{ kind: 'balance_differs', scope }], 'fresh_evidence', now);
          return;
        }
        const found = {
          kind: 'balance_differs' as const,
          scope,
          amountCents: row.balance_cents > ledger ? row.balance_cents - ledger : ledger - row.balance_cents,
          expected: { balance: formatAmount(row.balance_cents), at: context.calendar.toIso(row.at_wall) },
          actual: { ledger: formatAmount(ledger), difference: formatAmount(row.balance_cents - ledger) },
        };
        await raiseMismatches(trx, [found], now);
      },
      { retryDuplicates: true },
    );
  }
  if (count > 0) context.wakeUps.alerts.notify();
}

/** As `lastDayBefore`: a balance of midnight is that of the day before. */
const STATED_DAY = sql`LEFT(DATE_SUB(statements.at_wall, INTERVAL 1 SECOND), 10)`;

/** Finds a platform's newest statement whose day was proven complete by a read requested after its instant. */
async function findReadPast(context: Context, platform: string) {
  return await context.db
    .selectFrom('statements')
    .select(['seq', 'id', 'platform', 'at', 'at_wall', 'balance_cents'])
    .where('platform', '=', platform)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('run_windows')
          .select('run_windows.seq')
          .where('run_windows.state', '=', 'complete')
          .where((inner) =>
            inner.or([
              inner('run_windows.platform', 'is', null),
              inner('run_windows.platform', '=', inner.ref('statements.platform')),
            ]),
          )
          .where(sql<boolean>`run_windows.from_day <= ${STATED_DAY}`)
          .where(sql<boolean>`run_windows.to_day >= ${STATED_DAY}`)
          .whereRef('run_windows.asked_at', '>=', 'statements.at'),
      ),
    )
    .orderBy('at_wall', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/**
 * The ledger's balance before and after the second of a statement: without and with the entries of that second. An adjustment
 * is of a day, and stands at its first second by convention only: it is no entry of the midnight that begins its day.
 */
export type BalanceAroundSecond = { before: bigint; after: bigint };

/**
 * Returns the ledger balance to compare a statement with. The panel may or may not include payments of the same second,
 * so a balance on either side that agrees is used; else that of the entries before the instant. Pure.
 */
export function chooseLedgerBalance(
  stated: { at: Date; balance_cents: bigint },
  { before, after }: BalanceAroundSecond,
): bigint {
  if (stated.balance_cents === before || stated.balance_cents === after) return stated.balance_cents;
  return stated.at.getMilliseconds() === 0 ? before : after;
}

/** Reads the ledger's balance to compare a statement with, see `chooseLedgerBalance`. */
export async function readLedgerBalance(
  context: Context,
  stated: { platform: string; at: Date; balance_cents: bigint },
): Promise<bigint> {
  return chooseLedgerBalance(stated, await readPlatformBalance(context, stated));
}

/** Reads Available + Held of a statement's platform around its second. */
async function readPlatformBalance(
  { db, calendar, clock }: Context,
  { platform, at }: { platform: string; at: Date },
): Promise<BalanceAroundSecond> {
  const own = [nameAccount('Assets:Provider:Available', platform), nameAccount('Assets:Provider:Held', platform)];
  const wall = calendar.toWallTime(at);
  const { balances } = await readBalances(db, wall, 'now', clock.now());
  const before = balances.filter(({ account }) => own.includes(account)).reduce((sum, { cents }) => sum + cents, 0n);
  const rows = await db.selectFrom('accounts').select('seq').where('name', 'in', own).execute();
  const accounts = rows.map(({ seq }) => seq);
  return { before, after: before + (await sumSecond(db, { accounts, at: wall })) };
}

/**
 * Sums the postings of accounts in a second, without adjustments and their reversals: signed cents.
 * @param isCounted limits the entries by the column of their number.
 */
export async function sumSecond(
  db: Reader,
  { accounts, at }: { accounts: number[]; at: WallTime },
  isCounted?: (column: 'postings.entry_seq') => Expression<SqlBool>,
): Promise<bigint> {
  if (accounts.length === 0) return 0n;
  let query = db
    .selectFrom('postings')
    .innerJoin('entries', 'entries.seq', 'postings.entry_seq')
    .leftJoin('entries as origin', 'origin.seq', 'entries.reverses_seq')
    .select(sql<string | null>`SUM(postings.amount_cents)`.as('sum'))
    .where('postings.account_seq', 'in', accounts)
    .where('postings.at_wall', '=', at)
    .where(sql`COALESCE(origin.kind, entries.kind)`, '!=', 'adjustment');
  if (isCounted) query = query.where(isCounted('postings.entry_seq'));
  return BigInt((await query.executeTakeFirst())?.sum ?? 0);
}

/** Lists statements as the API shows them, newest first, of one platform or all, each with the current ledger balance. */
export async function listStatements(
  context: Context,
  limit: number,
  before: number | undefined,
  id?: string,
  platform?: string,
) {
  let query = context.db.selectFrom('statements').selectAll().orderBy('seq', 'desc').limit(limit);
  if (before !== undefined) query = query.where('seq', '<', before);
  if (id !== undefined) query = query.where('id', '=', id);
  if (platform !== undefined) query = query.where('platform', '=', platform);
  return await presentStatements(context, await query.execute());
}

/** Returns each platform's newest statement of an instant up to `until`, as `listStatements` does. */
export async function readNewestStatements(context: Context, until: WallTime) {
  const platforms = await context.db.selectFrom('statements').select('platform').distinct().execute();
  const newest = platforms.map(({ platform }) =>
    context.db
      .selectFrom('statements')
      .selectAll()
      .where('platform', '=', platform)
      .where('at_wall', '<=', until)
      .orderBy('at_wall', 'desc')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst(),
  );
  return await presentStatements(
    context,
    (await Promise.all(newest)).filter((row) => row !== undefined),
  );
}

/** Whether a later statement names the same instant of the platform: that one counts. */
async function isReplaced(db: Reader, { seq, platform, at_wall }: Selectable<Database['statements']>) {
  const later = db.selectFrom('statements').select('seq').where('platform', '=', platform);
  return (await later.where('at_wall', '=', at_wall).where('seq', '>', seq).limit(1).executeTakeFirst()) !== undefined;
}

async function presentStatements(context: Context, rows: Selectable<Database['statements']>[]) {
  const statements = [];
  for (const row of rows) {
    const ledger = await readLedgerBalance(context, row);
    statements.push({
      seq: row.seq,
      id: row.id,
      platform: row.platform,
      at: row.at.toISOString(),
      balance: formatAmount(row.balance_cents),
      ledger: formatAmount(ledger),
      difference: formatAmount(row.balance_cents - ledger),
      replaced: await isReplaced(context.db, row),
      created_at: row.created_at.toISOString(),
      created_by: row.actor,
    });
  }
  return statements;
}
