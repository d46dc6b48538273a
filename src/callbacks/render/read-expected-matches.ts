import type { Reader } from '../../database/reader.ts';
import { groupValues } from '../../domain/lists.ts';

/** A match of an expected payment. `undoneSeq`: the row that undoes it; null: it stands. */
export type StoredExpectedMatch = {
  seq: number;
  undoneSeq: number | null;
  transactionId: string;
  amountCents: bigint;
  rule: string;
};

/** Reads all matches of these expected payments, those that are undone too, the oldest first. @returns by their row numbers. */
export async function readExpectedMatches(
  db: Reader,
  expectedSeqs: number[],
): Promise<Map<number, StoredExpectedMatch[]>> {
  if (expectedSeqs.length === 0) return new Map();
  const rows = await db
    .selectFrom('expected_matches as made')
    .innerJoin('transactions', 'transactions.seq', 'made.transaction_seq')
    .leftJoin('expected_matches as undone', 'undone.undoes_seq', 'made.seq')
    .select(['made.expected_seq', 'made.seq', 'undone.seq as undone_seq', 'transactions.id'])
    .select(['made.amount_cents', 'made.rule'])
    .where('made.expected_seq', 'in', expectedSeqs)
    .where('made.part', 'is not', null)
    .orderBy('made.seq')
    .execute();
  return groupValues(
    rows,
    (row) => row.expected_seq,
    ({ seq, undone_seq: undoneSeq, id: transactionId, amount_cents: amountCents, rule }) => ({
      ...{ seq, undoneSeq, transactionId, amountCents, rule },
    }),
  );
}

/** The matches that stood as of a change. @param lastSeq of the matches and undoings that it knew. Pure. */
export function selectStanding(matches: StoredExpectedMatch[], lastSeq: number): StoredExpectedMatch[] {
  return matches.filter(({ seq, undoneSeq }) => seq <= lastSeq && (undoneSeq === null || undoneSeq > lastSeq));
}
