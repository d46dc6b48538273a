import type { Reader } from '../../../database/reader.ts';
import type { WallTime } from '../../../domain/calendar.ts';
import { type PendingScope, readLastEvents } from '../../read/read-pending.ts';

/** A transaction at a cut, with its newest status of before `end`. */
export type ReportedTransaction = {
  seq: number;
  id: string;
  operation: string;
  amountCents: bigint;
  status: string | null;
  statusWall: WallTime | null;
};

const FACTS = ['operation', 'amount_cents'] as const;

/** Reads transactions by their ids, in the order of first observation. */
export async function readTransactions(
  db: Reader,
  scope: Pick<PendingScope, 'cut' | 'end' | 'factsAtCut'>,
  ids: string[],
): Promise<ReportedTransaction[]> {
  if (ids.length === 0) return [];
  const found = await db
    .selectFrom('transactions')
    .select(['seq', 'id', 'operation', 'amount_cents'])
    .where('id', 'in', ids)
    .orderBy('seq')
    .execute();
  const rows = await scope.factsAtCut.restoreFacts(found, FACTS, (row) => row.seq);
  const seqs = rows.map((row) => row.seq);
  const last = seqs.length === 0 ? new Map() : await readLastEvents(db, scope, seqs);
  return rows.map(({ seq, id, operation, amount_cents: amountCents }) => {
    const event = last.get(seq);
    return { seq, id, operation, amountCents, status: event?.status ?? null, statusWall: event?.at_wall ?? null };
  });
}
