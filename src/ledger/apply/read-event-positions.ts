import type { Reader } from '../../database/reader.ts';

/**
 * Returns the positions of events that differ from those at which the events were first stored, by row number.
 * @param until the newest fact change to consider; undefined: all.
 */
export async function readEventPositions(
  db: Reader,
  transactionSeqs: number[],
  until?: number,
): Promise<Map<number, number>> {
  if (transactionSeqs.length === 0) return new Map();
  const rows = await db
    .selectFrom('event_places')
    .select(['event_seq', 'position'])
    .where('transaction_seq', 'in', transactionSeqs)
    .$if(until !== undefined, (query) => query.where('fact_change_seq', '<=', until ?? 0))
    .orderBy('seq')
    .execute();
  return new Map(rows.map((row) => [row.event_seq, row.position]));
}
