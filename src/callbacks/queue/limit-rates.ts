import type { Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { append } from '../../domain/lists.ts';
import type { ClaimedCallback } from './claimed-callback.ts';

/** A merchant's rate allows this much at once: what accumulates between two claims of an idle queue. */
const BURST_MS = 250;
const SECOND_MS = 1000;

export type RateRow = { seq: number; rate: number | null; rate_next_at: Date | null };

/** Locks the merchants that have a rate. Merchants are locked before callbacks, everywhere. */
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

/** @returns the ready callbacks that the rates of their merchants allow now; the others stay due. */
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
      append(granted, rows);
      continue;
    }
    const { count, nextAt } = takeTokens(limit.rate, limit.rate_next_at, now, rows.length);
    append(granted, rows.slice(0, count));
    if (count > 0) {
      await trx.updateTable('merchants').set({ rate_next_at: nextAt }).where('seq', '=', merchantSeq).execute();
    }
  }
  return granted;
}

/**
 * Rate limit over all processes: each callback granted moves `rate_next_at` by its share of a second.
 * @param nextAt the instant until which the rate is used up.
 */
export function takeTokens(
  ratePerSecond: number,
  nextAt: Date | null,
  now: Date,
  wanted: number,
): { count: number; nextAt: Date } {
  const eachMs = SECOND_MS / ratePerSecond;
  const startMs = Math.max(nextAt?.getTime() ?? 0, now.getTime() - BURST_MS);
  const leftMs = now.getTime() - startMs;
  const count = leftMs < 0 ? 0 : Math.min(wanted, Math.floor(leftMs / eachMs) + 1);
  return { count, nextAt: new Date(startMs + Math.ceil(count * eachMs)) };
}
