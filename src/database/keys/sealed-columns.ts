import type { Place } from './vault.ts';

/**
 * All columns that hold sealed values. `row` identifies the row: columns that are known before it is inserted, never change, and
 * differ from row to row. `key`: what orders the rows. `keyId`: whether `key_id` names the key.
 */
export const SEALED_COLUMNS = [
  { table: 'settings', column: 'value', row: ['name'], key: 'name', keyId: false },
  {
    table: 'merchant_secrets',
    column: 'ciphertext',
    row: ['merchant_seq', 'header', 'created_at'],
    key: 'seq',
    keyId: true,
  },
  { table: 'manifest_keys', column: 'ciphertext', row: ['id'], key: 'seq', keyId: true },
  { table: 'forgotten_people', column: 'sealed_values', row: ['document_hash'], key: 'document_hash', keyId: false },
  { table: 'idempotency_results', column: 'sealed', row: ['key_hash', 'number'], key: 'seq', keyId: false },
] as const;
export type SealedColumn = (typeof SEALED_COLUMNS)[number];
type Of<T> = Extract<SealedColumn, { table: T }>;

/** Returns where the sealed value of a row is at home. */
export function placeOf<T extends SealedColumn['table']>(
  table: T,
  row: Record<Of<T>['row'][number], Place['row'][number]>,
): Place {
  const { column, row: names } = SEALED_COLUMNS.find((one) => one.table === table) as Of<T>;
  const values = row as Record<string, Place['row'][number]>;
  return { purpose: `${table}.${column}`, row: names.map((name) => values[name] ?? null) };
}
