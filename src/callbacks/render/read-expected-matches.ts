import type { Reader } from '../../database/reader.ts';
import { groupValues } from '../../domain/lists.ts';
import { readCountedParts } from './read-counted.ts';

/** A match of an expected payment. `undoneSeq`: the row that undoes it; null: it stands. */
export type StoredExpectedMatch = {
  seq: number;
  undoneSeq: number | null;
  transactionSeq: number;
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
    .select(['made.expected_seq', 'made.seq', 'undone.seq as undone_seq'])
    .select(['made.transaction_seq', 'transactions.id'])
    .select(['made.amount_cents', 'made.rule'])
    .where('made.expected_seq', 'in', expectedSeqs)
    .where('made.part', 'is not', null)
    .orderBy('made.seq')
    .execute();
  return groupValues(
    rows,
    (row) => row.expected_seq,
    ({ seq, undone_seq: undoneSeq, transaction_seq, id: transactionId, amount_cents: amountCents, rule }) => ({
      ...{ seq, undoneSeq, transactionSeq: transaction_seq, transactionId, amountCents, rule },
    }),
  );
}

/** The matches that stood as of a change. @param lastSeq of the matches and undoings that it knew. Pure. */
export function selectStanding(matches: StoredExpectedMatch[], lastSeq: number): StoredExpectedMatch[] {
  return matches.filter(({ seq, undoneSeq }) => seq <= lastSeq && (undoneSeq === null || undoneSeq > lastSeq));
}

/**
 * Returns the matches of a change with the amounts that counted as of it: corrections cut what people matched. They add up to what
 * the change says, and stay the same: rows up to its instant decide, and none of them changes.
 * @param change.cents what was paid and returned.
 */
export async function countStanding(
  db: Reader,
  standing: StoredExpectedMatch[],
  { at, cents }: { at: Date; cents: bigint },
): Promise<StoredExpectedMatch[]> {
  if (sumCents(standing) === cents) return standing;
  const byPerson = standing.filter(({ rule }) => rule === 'person').map((one) => one.transactionSeq);
  const parts = await readCountedParts(db, byPerson, at);
  const counted = standing.map((one) =>
    one.rule === 'person' ? { ...one, amountCents: parts.get(one.seq) ?? 0n } : one,
  );
  // a correction that was committed after the change may bear an earlier instant: the sums of the change decide
  let left = cents;
  return (sumCents(counted) < cents ? standing : counted).map((one) => {
    const [before, after] = [left, left - one.amountCents];
    left = after > 0n ? after : 0n;
    return { ...one, amountCents: before - left };
  });
}

function sumCents(matches: StoredExpectedMatch[]): bigint {
  return matches.reduce((sum, { amountCents }) => sum + amountCents, 0n);
}
