import type { Reader } from '../../database/reader.ts';
import { capParts } from './cap-parts.ts';

type Stored = { seq: number; transaction_seq: number; rule: string; amount_cents: bigint };

/** Returns matches that stand with the amount that counts: a correction may have cut a person's part, also to nothing. */
export async function readCounted<Row extends Stored>(db: Reader, rows: Row[]): Promise<Row[]> {
  const counted = await readCountedParts(
    db,
    rows.filter(({ rule }) => rule === 'person').map((row) => row.transaction_seq),
  );
  return rows.map((row) => (row.rule === 'person' ? { ...row, amount_cents: counted.get(row.seq) ?? 0n } : row));
}

/**
 * Reads how many cents count of each part that a person matched of these payments.
 * @param at the instant as of which parts and amounts are read; by default now.
 * @returns by the row numbers of matches; one of which nothing counts is left out.
 */
export async function readCountedParts(db: Reader, payments: number[], at?: Date): Promise<Map<number, bigint>> {
  if (payments.length === 0) return new Map();
  const parts = await db
    .selectFrom('expected_matches as made')
    .innerJoin('transactions', 'transactions.seq', 'made.transaction_seq')
    .leftJoin('expected_matches as undone', (join) =>
      join
        .onRef('undone.undoes_seq', '=', 'made.seq')
        .$call((on) => (at === undefined ? on : on.on('undone.created_at', '<=', at))),
    )
    .select(['made.seq', 'made.transaction_seq', 'made.part', 'made.amount_cents'])
    .select('transactions.amount_cents as whole_cents')
    .where('made.transaction_seq', 'in', payments)
    .where('made.rule', '=', 'person')
    .where('undone.seq', 'is', null)
    .$if(at !== undefined, (query) => query.where('made.created_at', '<=', at ?? new Date()))
    .execute();
  const wholes = new Map(parts.map((row) => [row.transaction_seq, row.whole_cents]));
  if (at !== undefined) for (const [seq, cents] of await readAmountsBefore(db, payments, at)) wholes.set(seq, cents);
  return new Map(capParts(parts, (seq) => wholes.get(seq) ?? 0n).map((row) => [row.seq, row.amount_cents]));
}

/** The amounts of payments before the corrections that came after an instant. */
async function readAmountsBefore(db: Reader, payments: number[], at: Date): Promise<[number, bigint][]> {
  const rows = await db
    .selectFrom('fact_changes')
    .select(['transaction_seq', 'before_value'])
    .where('transaction_seq', 'in', payments)
    .where('name', '=', 'amount_cents')
    .where('at', '>', at)
    // of several the first comes last, and stays
    .orderBy('seq', 'desc')
    .execute();
  return rows.map((row) => [row.transaction_seq, BigInt(row.before_value ?? 0)]);
}
