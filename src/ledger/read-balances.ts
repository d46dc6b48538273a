import { type SqlBool, sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { Wall } from '../domain/calendar.ts';

export type Balance = { account: string; cents: bigint };

/**
 * The balance of every account: signed cents, debit positive, of entries that happened before `at` (the provider's wall
 * clock), as known before `known`.
 */
export async function readBalances(db: Reader, at: Wall, known: Date): Promise<Balance[]> {
  const rows = await db
    .selectFrom('postings')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .innerJoin('entries', 'entries.seq', 'postings.entry_seq')
    .select(['accounts.name', sql<string>`CAST(SUM(postings.amount_cents) AS CHAR)`.as('total')])
    .where('postings.at_wall', '<', at)
    .where('entries.recorded_at', '<', known)
    .groupBy('accounts.name')
    .orderBy('accounts.name')
    .execute();
  return rows.map((row) => ({ account: row.name, cents: BigInt(row.total) }));
}

/** Entries whose postings do not sum to zero: there are none, or the books are broken. */
export async function countUnbalanced(db: Reader): Promise<number> {
  const row = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('postings')
        .select('entry_seq')
        .groupBy('entry_seq')
        .having(sql<SqlBool>`SUM(amount_cents) <> 0`)
        .as('unbalanced'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}
