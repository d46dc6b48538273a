import type { Reader } from '../../database/reader.ts';

/**
 * Where events stand that stand elsewhere than where they were first learnt, by their row numbers.
 * @param until the newest change of facts that counts; undefined: all do.
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
