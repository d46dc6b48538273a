import type { Reader } from '../../database/reader.ts';
import { groupValues } from '../../domain/lists.ts';
import type { Posting } from '../journal/plan-entries.ts';

/** Returns the postings of entries, in their order, by the row number of the entry. */
export async function readPostings(db: Reader, entrySeqs: number[]): Promise<Map<number, Posting[]>> {
  if (entrySeqs.length === 0) return new Map();
  const rows = await db
    .selectFrom('postings')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .select(['entry_seq', 'accounts.name as account', 'amount_cents'])
    .where('entry_seq', 'in', entrySeqs)
    .orderBy('entry_seq')
    .orderBy('position')
    .execute();
  return groupValues(
    rows,
    ({ entry_seq: seq }) => seq,
    ({ account, amount_cents: cents }) => ({ account, cents }),
  );
}
