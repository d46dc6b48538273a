/**
 * Rows of `merchant_address_changes` for what operators change, and for filters that anybody changes: the merchant's history and the
 * addresses of its attempts read them. The audit, which nobody erases, has no value of them; these rows are kept for a week.
 */
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';

/** In the place of the token that asked for a change: these rows wait for nobody. */
export const BY_OPERATORS = 'operators';
const ID_BYTES = 12;
/** A longer filter is not noted: the column takes no more. */
const VALUE_CHARS_MAX = 2_048;
export const CHANGE_ID = 'mac_';

const KINDS = ['url', 'email', 'filter'] as const;
type Kind = (typeof KINDS)[number];
/** `filter`: as JSON. */
type Values = Partial<Record<Kind, string | null | undefined>>;
/** A change that counts already, by the id of its row. */
export type NotedAddress = { kind: Kind; id: string };

/** @returns an id for a change of address. */
export function makeChangeId(): string {
  return `${CHANGE_ID}${randomBytes(ID_BYTES).toString('hex')}`;
}

/** Notes what a change replaces, in its transaction. @param by a token of the merchant; default: operators. */
export async function noteAddresses(
  { clock }: Pick<Context, 'clock'>,
  trx: Transaction<Database>,
  { seq, before, change, by = BY_OPERATORS }: { seq: number; before: Values; change: Values; by?: string },
): Promise<NotedAddress[]> {
  const now = clock.now();
  const rows = KINDS.flatMap((kind) => {
    const [value, old = null] = [change[kind], before[kind]];
    const isLong = [value, old].some((text) => (text?.length ?? 0) > VALUE_CHARS_MAX);
    if (value === undefined || value === old || isLong) return [];
    return [{ id: makeChangeId(), merchant_seq: seq, kind, value, old_value: old }];
  });
  if (rows.length > 0)
    await trx
      .insertInto('merchant_address_changes')
      .values(rows.map((row) => ({ ...row, asked_at: now, asked_by: by, applied_at: now })))
      .execute();
  return rows;
}
