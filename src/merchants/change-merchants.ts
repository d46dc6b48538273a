import { randomBytes } from 'node:crypto';
import { sql, type Transaction, type Updateable } from 'kysely';
import type { Context } from '../context.ts';
import { requireRowNumber } from '../database/require-row-number.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { refuse } from '../texts/refuse.ts';
import { readUsableFilters } from './check-filter.ts';
import { checkMerchant, type MerchantChange, type NewMerchant } from './check-merchant.ts';
import { DISABLED } from './disabled-reasons.ts';
import { completeFilter, isWithin, parseFilter } from './match-filter.ts';
import { type NotedAddress, noteAddresses } from './note-addresses.ts';
import { findMerchant, type MerchantRow, type MerchantState } from './read-merchants.ts';
import { listHeaders } from './request-headers.ts';
import { addSecret, formatSecret, generateSecret, writeHeaders } from './secrets.ts';
import { startBackfill } from './start-backfill.ts';

const ID_BYTES = 12;
const SECOND_MS = 1000;

/** Columns of a healthy merchant. `warned_at` is not reset with them: it stays until a callback is delivered. */
export const HEALTHY = {
  failures: 0,
  failing_since: null,
  breaker_opened_at: null,
  probe_at: null,
} as const;

/**
 * Adds a merchant and its first secret, which is returned here and never again. The callbacks of events since
 * `eventsSince` that the ledger knows already follow in the background.
 * @throws ConfereError `invalid_request` for a wrong field, by its name.
 */
export async function createMerchant(
  context: Context,
  input: NewMerchant,
): Promise<{ merchant: MerchantRow; secret: string }> {
  checkMerchant(context, input);
  const made = generateSecret(context);
  const now = made.createdAt;
  const id = `mer_${randomBytes(ID_BYTES).toString('hex')}`;
  const eventsSince = input.eventsSince ?? defaultEventsSince(now);
  await transact(context.db, async (trx, mayBeDone) => {
    if (mayBeDone && (await merchantExists(trx, id))) return;
    const row = {
      id,
      name: input.name,
      url: input.url,
      format: input.format ?? 'standard',
      email: input.email ?? null,
      filter: JSON.stringify(completeFilter(input.filter)),
      rate: input.rate ?? null,
      manifests: input.manifests === false ? 0 : 1,
      events_since: eventsSince,
      created_at: now,
    };
    const { insertId } = await trx.insertInto('merchants').values(row).executeTakeFirstOrThrow();
    const seq = requireRowNumber(insertId, 'a merchant');
    await addSecret(context, trx, seq, made);
    await writeHeaders(context, trx, seq, listHeaders(input));
    await startBackfill(context, trx, seq, eventsSince);
  });
  return { merchant: await findMerchant(context.db, id), secret: formatSecret(made) };
}

/** The provider's clock has whole seconds: an event of this second counts. */
export function defaultEventsSince(now: Date): Date {
  return new Date(Math.floor(now.getTime() / SECOND_MS) * SECOND_MS);
}

async function merchantExists(trx: Transaction<Database>, id: string): Promise<boolean> {
  return (await trx.selectFrom('merchants').select('seq').where('id', '=', id).executeTakeFirst()) !== undefined;
}

/**
 * Changes what is given and leaves the rest; a given filter replaces the whole filter. If the merchant now receives more,
 * the callbacks of events that the ledger knows already follow in the background.
 */
export async function updateMerchant(
  context: Context,
  id: string,
  change: MerchantChange,
): Promise<MerchantRow & { noted: NotedAddress[] }> {
  const merchant = await findMerchant(context.db, id);
  checkMerchant(context, change, merchant);
  const set: Updateable<Database['merchants']> = {};
  if (change.name !== undefined) set.name = change.name;
  if (change.url !== undefined) Object.assign(set, { url: change.url, old_url: null });
  if (change.format !== undefined) set.format = change.format;
  if (change.email !== undefined) set.email = change.email;
  if (change.rate !== undefined) set.rate = change.rate;
  if (change.manifests !== undefined) set.manifests = change.manifests ? 1 : 0;
  if (change.eventsSince !== undefined) set.events_since = change.eventsSince;
  if (change.filter !== undefined) set.filter = JSON.stringify(completeFilter(change.filter));
  const noted = await transact(context.db, async (trx) => {
    // locked: another change since the read above must not decide whether, and since when, events are missing
    const before = await lockMerchant(trx, id);
    const resumes = isWithinLimitsAgain(before, set);
    if (resumes) Object.assign(set, RESUMED, { recovered_at: context.clock.now() });
    if (Object.keys(set).length > 0) {
      await trx.updateTable('merchants').set(set).where('seq', '=', merchant.seq).execute();
    }
    if (set.filter !== undefined) await decideOrdersAgain(context, trx, merchant.seq);
    await writeHeaders(context, trx, merchant.seq, listHeaders(change));
    if (resumes || receivesMore(before, change)) {
      await startBackfill(context, trx, merchant.seq, change.eventsSince ?? before.events_since);
    }
    const { url, email } = change;
    return await noteAddresses(context, trx, { seq: before.seq, before, change: { url, email, filter: set.filter } });
  });
  // a merchant that paused itself becomes paused by operators
  if (change.state === 'paused' || (change.state !== undefined && change.state !== merchant.state))
    return { ...(await setMerchantState(context, id, change.state)), noted };
  return { ...(await findMerchant(context.db, id)), noted };
}

/** The filter says which payments its orders may be. They are locked, so that the follower is not deciding them by the filter before. */
async function decideOrdersAgain({ clock }: Context, trx: Transaction<Database>, seq: number): Promise<void> {
  const now = clock.now();
  await sql`INSERT INTO expected_work (expected_seq, created_at, due_at) SELECT seq, ${now}, ${now} FROM expected_payments
    WHERE merchant_seq = ${seq} LOCK IN SHARE MODE`.execute(trx);
}

function receivesMore(
  merchant: Pick<MerchantRow, 'events_since' | 'filter'>,
  { eventsSince, filter }: MerchantChange,
): boolean {
  if (eventsSince !== undefined && eventsSince < merchant.events_since) return true;
  return filter !== undefined && !isWithin(completeFilter(filter), parseFilter(merchant.filter));
}

/** Columns of a merchant whose filter is within the limits again. */
export const RESUMED = { state: 'enabled', disabled_reason: null, ...HEALTHY } as const;

/**
 * Whether a change gives a merchant a filter within the limits that was disabled for one beyond them: it is enabled then, and
 * gets what it lacks.
 */
export function isWithinLimitsAgain(
  before: Pick<MerchantRow, 'filter' | 'own_filter' | 'disabled_reason'>,
  set: { filter?: string | undefined; own_filter?: string | null | undefined },
): boolean {
  const { filter = before.filter, own_filter = before.own_filter } = set;
  return before.disabled_reason === DISABLED.filter && readUsableFilters({ filter, own_filter }) !== undefined;
}

/**
 * Disables the merchants with a filter beyond the limits. They get nothing meanwhile; a smaller filter brings all of it.
 * @returns how many.
 */
export async function disableBeyondLimits({ db, log }: Context): Promise<number> {
  const rows = await db
    .selectFrom('merchants')
    .select(['seq', 'id', 'filter', 'own_filter'])
    .where('deleted_at', 'is', null)
    .where((eb) => eb.or([eb('disabled_reason', 'is', null), eb('disabled_reason', '<>', DISABLED.filter)]))
    .execute();
  const beyond = rows.filter((row) => readUsableFilters(row) === undefined);
  for (const { seq, id, filter } of beyond) {
    log.error({ merchant: id }, 'a merchant gets nothing: its filter is beyond the limits');
    // warned_at is null: the alert about a disabled merchant follows
    const set = { state: 'disabled', disabled_reason: DISABLED.filter, warned_at: null };
    await db.updateTable('merchants').set(set).where('seq', '=', seq).where('filter', '=', filter).execute();
  }
  return beyond.length;
}

/** The side that paused a merchant. What operators paused, the merchant itself cannot enable. */
export type PausedBy = 'operator' | 'merchant';

/** Reasons why nothing was sent before deliveries were resumed; enabled: nothing, though messages may have waited for a later attempt. */
export const STOPS = [
  ...(['enabled', 'breaker', 'paused_by_operator', 'paused_by_merchant'] as const),
  ...(['gone', 'failing', 'filter', 'disabled'] as const),
] as const;
export type Stop = (typeof STOPS)[number];
/** A merchant as it is now, and what stopped its deliveries before. */
export type SetMerchant = MerchantRow & { was: Stop };

/** Reads what stops deliveries. A reason of another version is `disabled`. */
export function readStop(
  row: Pick<MerchantRow, 'state' | 'paused_by' | 'disabled_reason' | 'breaker_opened_at'>,
): Stop {
  if (row.state === 'paused') return row.paused_by === 'merchant' ? 'paused_by_merchant' : 'paused_by_operator';
  if (row.state === 'enabled') return row.breaker_opened_at === null ? 'enabled' : 'breaker';
  return (['gone', 'failing', 'filter'] as const).find((one) => DISABLED[one] === row.disabled_reason) ?? 'disabled';
}

/** Locks a merchant until the transaction ends. @throws ConfereError `not_found`. */
export async function lockMerchant(trx: Transaction<Database>, id: string) {
  const row = await trx
    .selectFrom('merchants')
    .select(['seq', 'url', 'email', 'state', 'paused_by', 'disabled_reason', 'breaker_opened_at'])
    .select(['filter', 'own_filter', 'events_since'])
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw refuse('merchant_unknown');
  return row;
}

/**
 * Enables or pauses a merchant. Enabling resets its health: its held callbacks are resumed, oldest first.
 */
export async function setMerchantState(
  context: Context,
  id: string,
  state: MerchantState,
  by: PausedBy = 'operator',
): Promise<SetMerchant> {
  const paused_by = state === 'paused' ? by : null;
  const set = state === 'enabled' ? { state, paused_by, disabled_reason: null, ...HEALTHY } : { state, paused_by };
  const changed = await transact(context.db, async (trx) => {
    const before = await lockMerchant(trx, id);
    if (state === 'enabled' && readUsableFilters(before) === undefined) throw refuse('filter_beyond_limits');
    await trx.updateTable('merchants').set(set).where('seq', '=', before.seq).execute();
    return { ...(await findMerchant(trx, id)), was: readStop(before) };
  });
  context.wakeUps.callbacks.notify();
  return changed;
}

/** Removes a merchant: it gets no more callbacks, and its tokens end. Its past callbacks stay on record. */
export async function removeMerchant(context: Context, id: string): Promise<void> {
  const merchant = await findMerchant(context.db, id);
  await transact(context.db, async (trx) => {
    const now = context.clock.now();
    // recovered_at ends alerts about the merchant
    const set = {
      ...{ state: 'disabled', disabled_reason: DISABLED.removed, deleted_at: now, recovered_at: now },
      pull_token_hash: null,
    };
    await trx.updateTable('merchants').set(set).where('seq', '=', merchant.seq).execute();
    await trx.deleteFrom('merchant_secrets').where('merchant_seq', '=', merchant.seq).execute();
    await trx
      .updateTable('tokens')
      .set({ revoked_at: now })
      .where('merchant_seq', '=', merchant.seq)
      .where('revoked_at', 'is', null)
      .execute();
  });
}
