import type { Context } from '../../context.ts';
import { createKeyedExtraHash } from '../../privacy/redact-forgotten.ts';
import type { ProviderClient, ShownRow } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import type { IdSpellings } from './learn-id-spellings.ts';

/** A look that fails is repeated by its item's schedule: within one look there is one more try. */
const SHOW_TRIES_MAX = 2;

export type ItemKey = { transactionId: string | null; reference: string | null; extraHash: Buffer | null };

export type FetchResult =
  | { kind: 'row'; row: ShownRow }
  /** The provider does not know it, or not yet. */
  | { kind: 'unknown' }
  /** The provider was not asked: `list`, its list will tell; `sender`, its sender can pay for no show yet. */
  | { kind: 'deferred'; waitsFor: 'list' | 'sender'; notBefore: Date | undefined }
  | { kind: 'ambiguous' };

/**
 * Looks up what a webhook names: by id; else by reference (ours, then the list's filter); else by extra (ours only,
 * the list has no such filter). More than one hit is ambiguous: never guessed.
 */
export async function fetchTransaction(
  context: Context,
  client: ProviderClient,
  spelling: IdSpellings,
  key: ItemKey,
): Promise<FetchResult> {
  if (key.transactionId !== null) return await show(client, await spelling.list(key.transactionId));
  if (key.reference !== null) {
    const ours = await findOurs(context, 'reference', key.reference);
    if (ours.length > 1) return { kind: 'ambiguous' };
    return ours[0] ? await show(client, [ours[0]]) : await findByReference(client, key.reference);
  }
  if (key.extraHash === null) return { kind: 'unknown' };
  const ours = await findOurs(context, 'extra_hash', key.extraHash);
  if (ours.length > 1) return { kind: 'ambiguous' };
  return ours[0] ? await show(client, [ours[0]]) : { kind: 'unknown' };
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
  const page = await askForReference(client, reference);
  if (!page) return { kind: 'unknown' };
  const rows = page.rows.filter((row) => row.ok && row.transaction.reference === reference);
  if (rows.length > 1) return { kind: 'ambiguous' };
  return rows[0] ? { kind: 'row', row: { ...rows[0], askedAt: page.askedAt } } : { kind: 'unknown' };
}

/** An answer of 404 or 422 says that there is none by this reference, as it does of an id. */
async function askForReference(client: ProviderClient, reference: string) {
  try {
    return await client.listPage({ reference }, 1);
  } catch (error) {
    const none = error instanceof ProviderError && ['provider_not_found', 'provider_rejected'].includes(error.code);
    if (none) return undefined;
    throw error;
  }
}

async function findOurs(
  context: Context,
  column: 'reference' | 'extra_hash',
  value: string | Buffer,
): Promise<string[]> {
  // an extra that is withheld, because a person was forgotten, is known by the hash of its hash
  const values = typeof value === 'string' ? [value] : [value, createKeyedExtraHash(context.keys, value)];
  const rows = await context.db.selectFrom('transactions').select('id').where(column, 'in', values).limit(2).execute();
  return rows.map((row) => row.id);
}
