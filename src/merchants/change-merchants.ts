import { randomBytes } from 'node:crypto';
import type { Transaction, Updateable } from 'kysely';
import type { Context } from '../context.ts';
import { requireRowNumber } from '../database/require-row-number.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { ConfereError } from '../domain/errors.ts';
import { completeFilter, type FilterInput } from './match-filter.ts';
import { findMerchant, type MerchantRow, type MerchantState } from './read-merchants.ts';
import { addSecret, formatSecret, generateSecret } from './secrets.ts';
import { validateUrl } from './validate-url.ts';

const ID_BYTES = 12;
const SECOND_MS = 1000;

/** Columns of a healthy merchant. `warned_at` is not reset with them: it stays until a callback is delivered. */
export const HEALTHY = {
  failures: 0,
  failing_since: null,
  breaker_opened_at: null,
  probe_at: null,
} as const;

export type NewMerchant = {
  name: string;
  url: string;
  email?: string | null | undefined;
  filter?: FilterInput | undefined;
  rate?: number | null | undefined;
  eventsSince?: Date | undefined;
};

/**
 * Adds a merchant and its first secret, which is returned here and never again.
 * @throws ConfereError `invalid_request` for a URL that callbacks must not go to.
 */
export async function createMerchant(
  context: Context,
  input: NewMerchant,
): Promise<{ merchant: MerchantRow; secret: string }> {
  checkUrl(context, input.url);
  const made = generateSecret(context);
  const now = made.createdAt;
  const id = `mer_${randomBytes(ID_BYTES).toString('hex')}`;
  // the provider's clock has whole seconds: an event of this second counts
  const thisSecond = new Date(Math.floor(now.getTime() / SECOND_MS) * SECOND_MS);
  await transact(context.db, async (trx, mayBeDone) => {
    if (mayBeDone && (await merchantExists(trx, id))) return;
    const row = {
      id,
      name: input.name,
      url: input.url,
      email: input.email ?? null,
      filter: JSON.stringify(completeFilter(input.filter)),
      rate: input.rate ?? null,
      events_since: input.eventsSince ?? thisSecond,
      created_at: now,
    };
    const { insertId } = await trx.insertInto('merchants').values(row).executeTakeFirstOrThrow();
    await addSecret(context, trx, requireRowNumber(insertId, 'a merchant'), made);
  });
  return { merchant: await findMerchant(context.db, id), secret: formatSecret(made) };
}

async function merchantExists(trx: Transaction<Database>, id: string): Promise<boolean> {
  return (await trx.selectFrom('merchants').select('seq').where('id', '=', id).executeTakeFirst()) !== undefined;
}

export type MerchantChange = { [Name in keyof NewMerchant]?: NewMerchant[Name] | undefined } & {
  state?: 'enabled' | 'paused' | undefined;
};

/** Changes what is given and leaves the rest; a given filter replaces the whole filter. */
export async function updateMerchant(context: Context, id: string, change: MerchantChange): Promise<MerchantRow> {
  if (change.url !== undefined) checkUrl(context, change.url);
  const merchant = await findMerchant(context.db, id);
  const set: Updateable<Database['merchants']> = {};
  if (change.name !== undefined) set.name = change.name;
  if (change.url !== undefined) set.url = change.url;
  if (change.email !== undefined) set.email = change.email;
  if (change.rate !== undefined) set.rate = change.rate;
  if (change.eventsSince !== undefined) set.events_since = change.eventsSince;
  if (change.filter !== undefined) set.filter = JSON.stringify(completeFilter(change.filter));
  if (Object.keys(set).length > 0) {
    await context.db.updateTable('merchants').set(set).where('seq', '=', merchant.seq).execute();
  }
  if (change.state !== undefined && change.state !== merchant.state) return setMerchantState(context, id, change.state);
  return findMerchant(context.db, id);
}

/**
 * Enables or pauses a merchant. Enabling resets its health: its held callbacks are resumed, oldest first.
 */
export async function setMerchantState(context: Context, id: string, state: MerchantState): Promise<MerchantRow> {
  const merchant = await findMerchant(context.db, id);
  const set = state === 'enabled' ? { state, disabled_reason: null, ...HEALTHY } : { state };
  await context.db.updateTable('merchants').set(set).where('seq', '=', merchant.seq).execute();
  context.wakeUps.callbacks.notify();
  return findMerchant(context.db, id);
}

/** Removes a merchant: it gets no more callbacks. Its past callbacks stay on record. */
export async function removeMerchant(context: Context, id: string): Promise<void> {
  const merchant = await findMerchant(context.db, id);
  await transact(context.db, async (trx) => {
    const now = context.clock.now();
    // recovered_at ends alerts about the merchant
    const set = {
      ...{ state: 'disabled', disabled_reason: 'removed', deleted_at: now, recovered_at: now },
      pull_token_hash: null,
    };
    await trx.updateTable('merchants').set(set).where('seq', '=', merchant.seq).execute();
    await trx.deleteFrom('merchant_secrets').where('merchant_seq', '=', merchant.seq).execute();
  });
}

function checkUrl(context: Context, url: string): void {
  const { CALLBACK_ALLOW_PRIVATE: allowPrivate, ALLOW_PLAIN_HTTP: allowPlain } = context.config;
  const refusal = validateUrl(url, { allowPrivate, allowPlain });
  if (refusal) throw new ConfereError('invalid_request', `the url ${refusal}`, { fields: { url: [refusal] } });
}
