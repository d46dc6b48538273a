import type { Selectable } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { ConfereError } from '../domain/errors.ts';

export const MERCHANT_STATES = ['enabled', 'paused', 'disabled'] as const;
export type MerchantState = (typeof MERCHANT_STATES)[number];
export type MerchantRow = Selectable<Database['merchants']>;

/** @throws ConfereError `not_found` for an id of no merchant, or of one that was removed. */
export async function findMerchant(db: Reader, id: string): Promise<MerchantRow> {
  const row = await db
    .selectFrom('merchants')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!row) throw new ConfereError('not_found', 'there is no merchant with this id');
  return row;
}

/** A page of merchants, in the order in which they were added. */
export async function listMerchants(db: Reader, options: { limit: number; after: number }): Promise<MerchantRow[]> {
  return db
    .selectFrom('merchants')
    .selectAll()
    .where('deleted_at', 'is', null)
    .where('seq', '>', options.after)
    .orderBy('seq')
    .limit(options.limit)
    .execute();
}
