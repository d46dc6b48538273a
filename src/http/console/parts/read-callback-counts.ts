import { IS_NO_FAILED_TEST } from '../../../callbacks/health/callback-sources.ts';
import type { Reader } from '../../../database/reader.ts';

type Counts = { name: string; pending: number; held: number; failed: number };
/** Counts by merchant id. */
export type CallbackCounts = Map<string, Counts>;

/** Counts the undelivered callbacks of each merchant. */
export async function readCallbackCounts(db: Reader): Promise<CallbackCounts> {
  const rows = await db
    .selectFrom('callbacks')
    .innerJoin('merchants', 'merchants.seq', 'callbacks.merchant_seq')
    .select(['merchants.id', 'merchants.name', 'callbacks.state', (eb) => eb.fn.countAll<number>().as('count')])
    .where('callbacks.state', 'in', ['pending', 'held', 'failed'])
    .where(IS_NO_FAILED_TEST)
    .where('merchants.deleted_at', 'is', null)
    .groupBy(['merchants.id', 'merchants.name', 'callbacks.state'])
    .execute();
  const counts: CallbackCounts = new Map();
  for (const row of rows) {
    const one = counts.get(row.id) ?? { name: row.name, pending: 0, held: 0, failed: 0 };
    counts.set(row.id, { ...one, [row.state]: Number(row.count) });
  }
  return counts;
}
