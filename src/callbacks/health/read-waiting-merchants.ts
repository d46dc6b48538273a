import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { WHEN_IDLE } from './when-idle.ts';

/**
 * Returns the merchants whose callbacks wait for a worker, each with the due time of its oldest one, which may lie ahead.
 * Callbacks of a merchant that fails or has a `rate` wait for that merchant; those of a backfill wait for all others.
 */
export async function readWaitingMerchants(db: Reader): Promise<{ seq: number; oldestDueAt: Date }[]> {
  // one entry of the index for each merchant
  const due = await db
    .selectFrom('callbacks')
    .select(['merchant_seq', sql<Date | null>`MIN(next_attempt_at)`.as('at')])
    .where('state', '=', 'pending')
    .where('next_attempt_at', '<', WHEN_IDLE)
    .groupBy('merchant_seq')
    .execute();
  const merchants = await db
    .selectFrom('merchants')
    .select('seq')
    .where('state', '=', 'enabled')
    .where('deleted_at', 'is', null)
    .where('failing_since', 'is', null)
    .where('rate', 'is', null)
    .execute();
  const sendable = new Set(merchants.map(({ seq }) => seq));
  return due.flatMap(({ merchant_seq: seq, at }) => (at && sendable.has(seq) ? [{ seq, oldestDueAt: at }] : []));
}
