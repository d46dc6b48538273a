import type { Reader } from '../database/reader.ts';
import { capParts } from './decide/cap-parts.ts';

type Stored = { seq: number; transaction_seq: number; rule: string; amount_cents: bigint };

/** Returns matches that stand with the amount that counts: a correction may have cut a person's part, also to nothing. */
export async function readCounted<Row extends Stored>(db: Reader, rows: Row[]): Promise<Row[]> {
  const payments = rows.filter(({ rule }) => rule === 'person').map((row) => row.transaction_seq);
  if (payments.length === 0) return rows;
  const parts = await db
    .selectFrom('expected_matches as made')
    .innerJoin('transactions', 'transactions.seq', 'made.transaction_seq')
    .leftJoin('expected_matches as undone', 'undone.undoes_seq', 'made.seq')
    .select(['made.seq', 'made.transaction_seq', 'made.part', 'made.amount_cents'])
    .select('transactions.amount_cents as whole_cents')
    .where('made.transaction_seq', 'in', payments)
    .where('made.rule', '=', 'person')
    .where('undone.seq', 'is', null)
    .execute();
  const wholes = new Map(parts.map((row) => [row.transaction_seq, row.whole_cents]));
  const counted = new Map(capParts(parts, (seq) => wholes.get(seq) ?? 0n).map((row) => [row.seq, row.amount_cents]));
  return rows.map((row) => (row.rule === 'person' ? { ...row, amount_cents: counted.get(row.seq) ?? 0n } : row));
}
