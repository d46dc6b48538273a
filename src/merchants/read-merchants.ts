import type { Reader } from '../database/reader.ts';
import { ConfereError } from '../domain/errors.ts';

export const MERCHANT_STATES = ['enabled', 'paused', 'disabled'] as const;
export type MerchantState = (typeof MERCHANT_STATES)[number];

/** Base query: merchants that are not removed, each with its last backfill. */
export function selectMerchants(db: Reader) {
  return db
    .selectFrom('merchants')
    .leftJoin('backfills', 'backfills.merchant_seq', 'merchants.seq')
    .selectAll('merchants')
    .select(['backfills.state as backfill_state', 'backfills.events_since as backfill_since', 'enqueued'])
    .select(['transactions as backfill_done', 'cursor_wall', 'started_at', 'finished_at'])
    .where('deleted_at', 'is', null);
}

export type MerchantRow = Awaited<ReturnType<ReturnType<typeof selectMerchants>['execute']>>[number];

/** @throws ConfereError `not_found` for an id of no merchant, or of one that was removed. */
export async function findMerchant(db: Reader, id: string): Promise<MerchantRow> {
  const row = await selectMerchants(db).where('id', '=', id).executeTakeFirst();
  if (!row) throw new ConfereError('not_found', 'there is no merchant with this id');
  return row;
}

/** A page of merchants, in the order in which they were added. */
export async function listMerchants(db: Reader, options: { limit: number; after: number }): Promise<MerchantRow[]> {
  return selectMerchants(db)
    .where('merchants.seq', '>', options.after)
    .orderBy('merchants.seq')
    .limit(options.limit)
    .execute();
}
