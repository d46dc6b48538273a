/** Rows of `merchant_address_changes` for what operators change: the merchant's history and the addresses of its attempts read them. */
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';

/** In the place of the token that asked for a change: these rows wait for nobody. */
export const BY_OPERATORS = 'operators';
const ID_BYTES = 12;
export const CHANGE_ID = 'mac_';

type Addresses = { url?: string | null | undefined; email?: string | null | undefined };
/** A change of an address that counts already, by the id of its row. */
export type NotedAddress = { kind: 'url' | 'email'; id: string };

/** @returns an id for a change of address. */
export function makeChangeId(): string {
  return `${CHANGE_ID}${randomBytes(ID_BYTES).toString('hex')}`;
}

/** Notes which addresses an operator's change replaces, in its transaction. @param before the merchant, locked. */
export async function noteAddresses(
  { clock }: Pick<Context, 'clock'>,
  trx: Transaction<Database>,
  { before, change }: { before: { seq: number; url: string | null; email: string | null }; change: Addresses },
): Promise<NotedAddress[]> {
  const now = clock.now();
  const rows = (['url', 'email'] as const).flatMap((kind) => {
    const [value, old] = [change[kind], before[kind]];
    if (value === undefined || value === old) return [];
    return [{ id: makeChangeId(), merchant_seq: before.seq, kind, value, old_value: old }];
  });
  if (rows.length > 0)
    await trx
      .insertInto('merchant_address_changes')
      .values(rows.map((row) => ({ ...row, asked_at: now, asked_by: BY_OPERATORS, applied_at: now })))
      .execute();
  return rows;
}
