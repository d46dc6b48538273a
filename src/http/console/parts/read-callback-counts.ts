import { sql } from 'kysely';
import { IS_NO_FAILED_TEST } from '../../../callbacks/health/callback-sources.ts';
import type { Reader } from '../../../database/reader.ts';

type Counts = { name: string; pending: number; held: number; failed: number };
/** Counts by merchant id. */
export type CallbackCounts = Map<string, Counts>;

/** Counts the undelivered callbacks of each merchant. Those that wait by the index alone: a backlog holds up no page. */
export async function readCallbackCounts(db: Reader): Promise<CallbackCounts> {
  const { rows: waiting } = await sql<{ id: string; name: string; state: string; count: number }>`
    SELECT merchants.id, merchants.name, callbacks.state, COUNT(*) AS count
    FROM merchants STRAIGHT_JOIN callbacks
      ON callbacks.merchant_seq = merchants.seq AND callbacks.state IN ('pending', 'held')
    WHERE merchants.deleted_at IS NULL
    GROUP BY merchants.seq, merchants.id, merchants.name, callbacks.state`.execute(db);
  const failed = await db
    .selectFrom('callbacks')
    .innerJoin('merchants', 'merchants.seq', 'callbacks.merchant_seq')
    .select(['merchants.id', 'merchants.name', 'callbacks.state', (eb) => eb.fn.countAll<number>().as('count')])
    .where('callbacks.state', '=', 'failed')
    .where(IS_NO_FAILED_TEST)
    .where('merchants.deleted_at', 'is', null)
    .groupBy(['merchants.id', 'merchants.name', 'callbacks.state'])
    .execute();
  const counts: CallbackCounts = new Map();
  for (const row of [...waiting, ...failed]) {
    const one = counts.get(row.id) ?? { name: row.name, pending: 0, held: 0, failed: 0 };
    counts.set(row.id, { ...one, [row.state]: Number(row.count) });
  }
  return counts;
}
