import { sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import { refuse } from '../texts/refuse.ts';

export const MERCHANT_STATES = ['enabled', 'paused', 'disabled'] as const;
export type MerchantState = (typeof MERCHANT_STATES)[number];

/** Base query: merchants that are not removed, each with its last backfill, and the names of its headers with commas. */
export function selectMerchants(db: Reader) {
  return db
    .selectFrom('merchants')
    .leftJoin('backfills', 'backfills.merchant_seq', 'merchants.seq')
    .selectAll('merchants')
    .select(['backfills.state as backfill_state', 'backfills.events_since as backfill_since', 'enqueued'])
    .select(['transactions as backfill_done', 'cursor_wall', 'started_at', 'finished_at'])
    .select((eb) =>
      eb
        .selectFrom('merchant_secrets')
        // at most 10 names of 64 characters: MySQL cuts at 1024
        .select(sql<string | null>`GROUP_CONCAT(CONVERT(header USING utf8mb4) ORDER BY header)`.as('names'))
        .whereRef('merchant_seq', '=', 'merchants.seq')
        .where('header', 'is not', null)
        .as('headers'),
    )
    .where('deleted_at', 'is', null);
}

/** The names of all headers that a merchant's requests have of its own, `authorization` included. */
export function headerNamesOf({ headers }: Pick<MerchantRow, 'headers'>): string[] {
  return headers === null ? [] : headers.split(',');
}

export type MerchantRow = Awaited<ReturnType<ReturnType<typeof selectMerchants>['execute']>>[number];

/** @throws ConfereError `not_found` for an id of no merchant, or of one that was removed. */
export async function findMerchant(db: Reader, id: string): Promise<MerchantRow> {
  const row = await selectMerchants(db).where('id', '=', id).executeTakeFirst();
  if (!row) throw refuse('merchant_unknown');
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
