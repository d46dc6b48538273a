import type { Context } from '../../context.ts';
import { createKeyedExtraHash } from '../../privacy/redact-forgotten.ts';
import type { ProviderClient, ShownRow } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import type { IdSpellings } from './learn-id-spellings.ts';

/** HTTP tries of one fetch. The item's schedule retries a failed fetch later. */
const SHOW_TRIES_MAX = 2;

export type ItemKey = { transactionId: string | null; reference: string | null; extraHash: Buffer | null };

export type FetchResult =
  | { kind: 'row'; row: ShownRow }
  /** The provider does not know it, or not yet. */
  | { kind: 'unknown' }
  /** Not fetched yet. `list`: waits for the next reading of the list; `sender`: its sender has no budget left. */
  | { kind: 'deferred'; waitsFor: 'list' | 'sender'; notBefore: Date | undefined }
  | { kind: 'ambiguous' };

/**
 * Looks up the transaction that a webhook names: by id; else by reference, in the ledger, then by the list's filter; else
 * by extra, in the ledger only, since the list has no such filter. More than one hit is `ambiguous`, never guessed.
 */
export async function fetchTransaction(
  context: Context,
  client: ProviderClient,
  spelling: IdSpellings,
  key: ItemKey,
): Promise<FetchResult> {
  if (key.transactionId !== null) return await show(client, await spelling.list(key.transactionId));
  if (key.reference !== null) {
    const stored = await findStored(context, 'reference', key.reference);
    if (stored.length > 1) return { kind: 'ambiguous' };
    return stored[0] ? await show(client, [stored[0]]) : await findByReference(client, key.reference);
  }
  if (key.extraHash === null) return { kind: 'unknown' };
  const stored = await findStored(context, 'extra_hash', key.extraHash);
  if (stored.length > 1) return { kind: 'ambiguous' };
  return stored[0] ? await show(client, [stored[0]]) : { kind: 'unknown' };
}

async function show(client: ProviderClient, spellings: string[]): Promise<FetchResult> {
  for (const spelling of spellings) {
    const row = await client.show(spelling, { triesMax: SHOW_TRIES_MAX });
    if (row) return { kind: 'row', row };
  }
  return { kind: 'unknown' };
}

/** An answer counts only where the reference is equal byte for byte. */
async function findByReference(client: ProviderClient, reference: string): Promise<FetchResult> {
  const page = await listByReference(client, reference);
  if (!page) return { kind: 'unknown' };
  const rows = page.rows.filter((row) => row.ok && row.transaction.reference === reference);
  if (rows.length > 1) return { kind: 'ambiguous' };
  return rows[0] ? { kind: 'row', row: { ...rows[0], askedAt: page.askedAt } } : { kind: 'unknown' };
}

/** @returns undefined where the provider answers 404 or 422: it knows no such reference. */
async function listByReference(client: ProviderClient, reference: string) {
  try {
    return await client.listPage({ reference }, 1);
  } catch (error) {
    const none = error instanceof ProviderError && ['provider_not_found', 'provider_rejected'].includes(error.code);
    if (none) return undefined;
    throw error;
  }
}

async function findStored(
  context: Context,
  column: 'reference' | 'extra_hash',
  value: string | Buffer,
): Promise<string[]> {
  // the extra of a forgotten person is stored as the keyed hash of its hash
  const values = typeof value === 'string' ? [value] : [value, createKeyedExtraHash(context.keys, value)];
  const rows = await context.db.selectFrom('transactions').select('id').where(column, 'in', values).limit(2).execute();
  return rows.map((row) => row.id);
}
