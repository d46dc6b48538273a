/** Sums of postings by account number: signed cents, debit positive. Each reads one range of an index. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { WallTime } from '../domain/calendar.ts';

export type AccountSums = Map<number, bigint>;

/** Returns the sealer's sums of everything before the hour of `at`. */
export async function sumSpans(db: Reader, at: WallTime): Promise<AccountSums> {
  const [month, day, hour] = [at.slice(0, 7), at.slice(0, 10), at.slice(0, 13)];
  // three ranges of the key in one statement
  const rows = await db
    .selectFrom('balance_spans')
    .select(['account_seq', sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents')])
    .where((eb) =>
      eb.or(
        [
          { grain: 'month', from: '', to: month },
          { grain: 'day', from: month, to: day },
          { grain: 'hour', from: day, to: hour },
        ].map(({ grain, from, to }) => eb.and([eb('grain', '=', grain), eb('span', '>', from), eb('span', '<', to)])),
      ),
    )
    .groupBy('account_seq')
    .execute();
  return addRows(new Map(), rows);
}

/** Sums postings from `from` (included) to `to`, by the index of these accounts. */
export async function sumBetween(db: Reader, accounts: number[], from: WallTime, to: WallTime): Promise<AccountSums> {
  if (accounts.length === 0) return new Map();
  return await sumWhere(db, sql`account_seq IN (${sql.join(accounts)}) AND at_wall >= ${from} AND at_wall < ${to}`);
}

/** Sums postings before `at` of entries in a range of numbers: `after` < number ≤ `to`. */
export async function sumEntryRange(
  db: Reader,
  range: { after: number; to?: number | undefined },
  at: WallTime,
): Promise<AccountSums> {
  const end = range.to === undefined ? sql`` : sql`AND entry_seq <= ${range.to}`;
  return await sumWhere(db, sql`entry_seq > ${range.after} ${end} AND at_wall < ${at}`);
}

/** Sums postings before `at` of single entries. */
export async function sumEntries(db: Reader, seqs: readonly number[], at: WallTime): Promise<AccountSums> {
  if (seqs.length === 0) return new Map();
  return await sumWhere(db, sql`entry_seq IN (${sql.join(seqs)}) AND at_wall < ${at}`);
}

/** Sums postings before `at` of entries in a range that were recorded before an instant, or from it on. */
export async function sumRecorded(
  db: Reader,
  range: { after: number; to?: number | undefined },
  recorded: { before: Date } | { from: Date },
  at: WallTime,
): Promise<AccountSums> {
  const rows = await db
    .selectFrom('entries')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .select(['account_seq', sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents')])
    .where('entries.seq', '>', range.after)
    .where('entries.seq', '<=', range.to ?? Number.MAX_SAFE_INTEGER)
    .where(
      'entries.recorded_at',
      'before' in recorded ? '<' : '>=',
      'before' in recorded ? recorded.before : recorded.from,
    )
    .where('entries.at_wall', '<', at)
    .groupBy('account_seq')
    .execute();
  return addRows(new Map(), rows);
}

export function addSums(sums: AccountSums, more: AccountSums, sign: 1n | -1n = 1n): AccountSums {
  for (const [account, cents] of more) sums.set(account, (sums.get(account) ?? 0n) + sign * cents);
  return sums;
}

async function sumWhere(db: Reader, condition: RawBuilder<unknown>): Promise<AccountSums> {
  const rows = await db
    .selectFrom('postings')
    .select(['account_seq', sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents')])
    .where(condition as RawBuilder<SqlBool>)
    .groupBy('account_seq')
    .execute();
  return addRows(new Map(), rows);
}

function addRows(sums: AccountSums, rows: { account_seq: number; total_cents: bigint }[]): AccountSums {
  for (const row of rows) sums.set(row.account_seq, (sums.get(row.account_seq) ?? 0n) + row.total_cents);
  return sums;
}
