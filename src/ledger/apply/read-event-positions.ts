import type { Reader } from '../../database/reader.ts';

/**
 * Returns the positions of events that differ from those at which the events were first stored, by row number.
 * @param until the newest fact change to consider; all by default.
 */
export async function readEventPositions(
  db: Reader,
  transactionSeqs: number[],
  until = Number.MAX_SAFE_INTEGER,
): Promise<Map<number, number>> {
  if (transactionSeqs.length === 0) return new Map();
  const rows = await db
    .selectFrom('event_places')
    .select(['event_seq', 'position'])
    .where('transaction_seq', 'in', transactionSeqs)
    .where('fact_change_seq', '<=', until)
    .orderBy('seq')
    .execute();
  return new Map(rows.map((row) => [row.event_seq, row.position]));
}
