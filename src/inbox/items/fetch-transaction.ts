import type { Context } from '../../context.ts';
import { createKeyedExtraHash } from '../../privacy/redact-forgotten.ts';
import type { ProviderClient, ShownRow } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { chargeSender } from '../receive/charge-senders.ts';
import { SENDER_SHOWS_PER_HOUR } from '../receive/plan-shows.ts';
import type { ClaimedItem } from './claim-items.ts';
import type { IdSpellings } from './learn-id-spellings.ts';

/** HTTP tries of one fetch. The item's schedule retries a failed fetch later. */
const SHOW_TRIES_MAX = 2;
/** Transactions of one reference or extra that are fetched, over all items of a body: a body must not buy more. */
const CANDIDATES_MAX = 10;

export type ItemKey = { transactionId: string | null; reference: string | null; extraHash: Buffer | null };

export type FetchResult =
  /**
   * Several `rows`: all that have the item's reference or extra. `isFallback`: the provider does not know the item's id,
   * and these rows have the reference or the extra beside it: the id may be the notification's, or not be shown yet.
   */
  | { kind: 'row'; rows: ShownRow[]; isFallback?: boolean }
  /** The provider does not know it, or not yet. */
  | { kind: 'unknown' }
  /** Not fetched yet. `list`: waits for the next reading of the list; `sender`: its sender has no budget left. */
  | { kind: 'deferred'; waitsFor: 'list' | 'sender'; notBefore: Date | undefined }
  /** More transactions have its key than are fetched. */
  | { kind: 'ambiguous' };

type ItemToFetch = ItemKey & Pick<ClaimedItem, 'fetches' | 'misses' | 'granted' | 'sender' | 'itemsInWebhook'>;

/** `chargedSender`: the sender who pays for each request, as it has no hit. */
type Fetch = { context: Context; client: ProviderClient; item: ItemToFetch; chargedSender: string | undefined };

const UNKNOWN: FetchResult = { kind: 'unknown' };

/**
 * Looks up what a webhook names: by id; else by reference, in the ledger, then by the list's filter; else by extra, in the
 * ledger only, since the list has no such filter. All transactions of a reference or extra are fetched, up to
 * CANDIDATES_MAX. An id that the provider does not know is followed by the reference and the extra of the same body; the
 * provider's list is asked for that reference at the id's first miss only.
 */
export async function fetchTransaction(fetch: Fetch, spelling: IdSpellings): Promise<FetchResult> {
  const { client, item } = fetch;
  if (item.transactionId === null)
    return item.reference === null ? await findByExtra(fetch) : await findByReference(fetch);
  const row = await show(client, await spelling.list(item.transactionId));
  if (row) return { kind: 'row', rows: [row] };
  const beside = await findBeside(fetch);
  return beside.kind === 'row' ? { ...beside, isFallback: true } : UNKNOWN;
}

async function findBeside(fetch: Fetch): Promise<FetchResult> {
  const { context, item, chargedSender: sender } = fetch;
  if (item.reference === null && item.extraHash === null) return UNKNOWN;
  if (sender !== undefined && !(await charge(context, sender, 1))) return UNKNOWN;
  const named = item.reference === null ? UNKNOWN : await findByReference(fetch);
  return named.kind === 'unknown' && item.extraHash ? await findByExtra(fetch) : named;
}

async function show(client: ProviderClient, spellings: string[]): Promise<ShownRow | undefined> {
  for (const spelling of spellings) {
    const row = await client.show(spelling, { triesMax: SHOW_TRIES_MAX });
    if (row) return row;
  }
  return undefined;
}

/**
 * One transaction that the ledger knows is shown by its id. Where it did not show the claim, or where there are several,
 * the list is asked: with one request it shows all that have the reference now, also those that the ledger does not know.
 */
async function findByReference(fetch: Fetch): Promise<FetchResult> {
  const { context, client, item } = fetch;
  const reference = item.reference ?? '';
  const stored = await findStored(context, 'reference', reference);
  if (stored.length > CANDIDATES_MAX) return { kind: 'ambiguous' };
  const asksList =
    item.transactionId === null
      ? stored.length !== 1 || item.fetches > 0
      : stored.length === 0 && (item.misses === 0 || item.granted);
  const listed = asksList ? await listByReference(client, reference) : [];
  if (listed.length > CANDIDATES_MAX) return { kind: 'ambiguous' };
  return listed.length > 0 ? { kind: 'row', rows: listed } : await showEach(fetch, stored);
}

async function findByExtra(fetch: Fetch): Promise<FetchResult> {
  const { context, item } = fetch;
  if (item.extraHash === null) return UNKNOWN;
  return await showEach(fetch, await findStored(context, 'extra_hash', item.extraHash));
}

/** Shows transactions by their ids. Each request after the first is charged. */
async function showEach({ context, client, item }: Fetch, ids: string[]): Promise<FetchResult> {
  const max = Math.max(1, Math.floor(CANDIDATES_MAX / item.itemsInWebhook));
  if (ids.length > max) return { kind: 'ambiguous' };
  if (ids.length > 1 && !item.granted && !(await charge(context, item.sender, ids.length - 1)))
    return { kind: 'deferred', waitsFor: 'sender', notBefore: undefined };
  const rows: ShownRow[] = [];
  for (const id of ids) {
    const row = await show(client, [id]);
    if (row) rows.push(row);
  }
  return rows.length > 0 ? { kind: 'row', rows } : UNKNOWN;
}

async function charge(context: Context, sender: string, wanted: number): Promise<boolean> {
  const { granted } = await chargeSender(context, { sender, cost: 'shows', wanted, max: SENDER_SHOWS_PER_HOUR });
  return granted === wanted;
}

/**
 * @returns the rows whose reference is equal byte for byte. None where the provider answers 404 or 422: it knows no such
 *   reference.
 */
async function listByReference(client: ProviderClient, reference: string): Promise<ShownRow[]> {
  try {
    const page = await client.listPage({ reference }, 1);
    if (!page) return [];
    const rows = page.rows.filter((row) => row.ok && row.transaction.reference === reference);
    return rows.map((row) => ({ ...row, askedAt: page.askedAt }));
  } catch (error) {
    const none = error instanceof ProviderError && ['provider_not_found', 'provider_rejected'].includes(error.code);
    if (none) return [];
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
  const select = context.db.selectFrom('transactions').select('id').where(column, 'in', values);
  const rows = await select.limit(CANDIDATES_MAX + 1).execute();
  return rows.map((row) => row.id);
}
