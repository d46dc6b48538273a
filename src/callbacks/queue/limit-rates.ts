import type { Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import type { ClaimedCallback } from './claimed-callback.ts';
import { takeTokens } from './take-tokens.ts';

/** Locks the merchants that have a rate: before any callback, as everywhere. */
export async function lockRates(trx: Transaction<Database>, seqs: number[]): Promise<Map<number, RateRow>> {
  if (seqs.length === 0) return new Map();
  const rows = await trx
    .selectFrom('merchants')
    .select(['seq', 'rate', 'rate_next_at'])
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.seq, row]));
}

export type RateRow = { seq: number; rate: number | null; rate_next_at: Date | null };

/** Of what is ready, as many as the merchants' rates allow; the rest stays due. */
export async function limitRates(
  trx: Transaction<Database>,
  ready: ClaimedCallback[],
  rates: Map<number, RateRow>,
  now: Date,
): Promise<ClaimedCallback[]> {
  if (rates.size === 0) return ready;
  const granted: ClaimedCallback[] = [];
  for (const [merchantSeq, rows] of Map.groupBy(ready, (row) => row.merchantSeq)) {
    const limit = rates.get(merchantSeq);
    if (!limit?.rate) {
      granted.push(...rows);
      continue;
    }
    const { count, nextAt } = takeTokens(limit.rate, limit.rate_next_at, now, rows.length);
    granted.push(...rows.slice(0, count));
    if (count > 0) {
      await trx.updateTable('merchants').set({ rate_next_at: nextAt }).where('seq', '=', merchantSeq).execute();
    }
  }
  return granted;
}
