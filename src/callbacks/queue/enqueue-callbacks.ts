import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { insertReturning, insertRows } from '../../database/insert-returning.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import type { Source } from '../../domain/observation.ts';
import { WHEN_IDLE } from '../health/when-idle.ts';
import {
  type CallbackCause,
  type CallbackInsert,
  type CorrectionCause,
  type Recipient,
  receivesCorrection,
  receivesEvent,
  toCorrectionRow,
  toEventRow,
  toManifestRow,
} from './callback-rows.ts';
import { RECHECK_MS } from './check-order.ts';
import type { InsertClaims, LeasedCallback } from './claim-with-insert.ts';
import { CLAIMABLE_COLUMNS, toClaimed } from './claimed-callback.ts';
import { listMissing, readNotified } from './history/list-missing.ts';
import { readOpenCallbacks } from './read-open-callbacks.ts';
import { readRecipients } from './read-recipients.ts';

const ROWS_MAX = 500;

/** The ids of a callback, and the observation that brought its event. */
export type EnqueuedCallback = {
  callback: string;
  merchant: string;
  transaction: string;
  origin: Source | undefined;
};

/**
 * Writes the callbacks of new events, in the database transaction that wrote the events: one for each merchant whose
 * filter matches and whose `events_since` is not after the event. Recipients are chosen here, once. A second call for the
 * same events adds nothing. The caller notifies `context.wakeUps.callbacks` after its commit.
 * @param given.causes oldest event first for each transaction.
 * @param given.recipients read in the same transaction.
 * @param claims leases what may be sent at once, for the delivery loop of this process.
 * @returns the callbacks of these events, also those that were there before.
 */
export async function enqueueCallbacks(
  context: Context,
  trx: Transaction<Database>,
  { causes, recipients }: { causes: CallbackCause[]; recipients: Recipient[] },
  claims?: InsertClaims,
): Promise<EnqueuedCallback[]> {
  if (causes.length === 0) return [];
  const firsts = new Map<number, number>();
  for (const { transaction, event } of causes) {
    firsts.set(transaction.seq, Math.min(event.sequence, firsts.get(transaction.seq) ?? event.sequence));
  }
  await enqueueOlder(context, trx, recipients, firsts);
  const now = context.clock.now();
  const isNotified = await readNotified(context, trx, causes);
  const made = recipients.flatMap((recipient) => {
    const fresh = causes.filter((cause) => !isNotified(recipient, cause));
    return callbacksFor(context, recipient, fresh, now);
  });
  const rows = made.map(({ row }) => row);
  const backfilled = recipients.filter((recipient) => recipient.isBackfilling).map(({ seq }) => seq);
  if (claims) await insertClaimed(context, trx, rows, { claims, firsts, backfilled: new Set(backfilled) });
  else await insertCallbacks(trx, rows);
  return made.map(({ enqueued }) => enqueued);
}

/** The sequence number of a transaction's first event: no callback of the transaction is older. */
const FIRST_SEQUENCE = 1;

/**
 * Inserts callbacks, and claims those that may be sent at once. The writer has locked their transactions, so that no other
 * one enqueues an older callback meanwhile.
 * @param given.firsts the lowest sequence number of the causes, by the transaction's row number.
 * @param given.backfilled merchants that may lack older callbacks.
 */
async function insertClaimed(
  context: Context,
  trx: Transaction<Database>,
  rows: CallbackInsert[],
  given: { claims: InsertClaims; firsts: Map<number, number>; backfilled: Set<number> },
): Promise<void> {
  const { claims, firsts, backfilled } = given;
  const known = [...firsts].filter(([, sequence]) => sequence > FIRST_SEQUENCE).map(([seq]) => seq);
  const merchantSeqs = [...new Set(rows.map((row) => row.merchant_seq))];
  const open = known.length > 0 && rows.length > 0 ? await readOpenCallbacks(trx, known, merchantSeqs) : [];
  const waiting = new Set(open.map((one) => `${one.merchant_seq} ${one.transaction_seq}`));
  const leased = claims.lease(
    rows,
    (row) => backfilled.has(row.merchant_seq) || waiting.has(`${row.merchant_seq} ${row.transaction_seq}`),
  );
  const columns = [...CLAIMABLE_COLUMNS, 'lease_holder', 'lease_until'] as const;
  const inserted: LeasedCallback[] = [];
  for (let from = 0; from < leased.length; from += ROWS_MAX) {
    const some = leased.slice(from, from + ROWS_MAX);
    const ids = some.map((row) => row.webhook_id);
    const written = await insertReturning(context, trx, { table: 'callbacks', rows: some, update: ONCE }, columns, () =>
      trx.selectFrom('callbacks').select(columns).where('webhook_id', 'in', ids).execute(),
    );
    for (const row of written)
      inserted.push({ ...toClaimed(row), leaseHolder: row.lease_holder, leaseUntil: row.lease_until });
  }
  // all at once: two INSERTs may share the callbacks of one transaction
  claims.remember(inserted);
}

/** Leaves a callback that is there as it is: webhook_id is the only unique key here that can clash. */
const ONCE = ['webhook_id'] as const;

/**
 * Writes the callbacks of a correction, in the database transaction that made it: one for each merchant that receives any
 * event of the transaction as it was before or, if `concerns` is `either`, as it is now. So every merchant that was sent
 * wrong facts is sent the correction.
 */
export async function enqueueCorrection(
  context: Context,
  trx: Transaction<Database>,
  cause: CorrectionCause,
): Promise<number> {
  const recipients = await readRecipients(trx);
  await enqueueOlder(context, trx, recipients, new Map([[cause.seq, cause.sequence]]));
  const now = context.clock.now();
  const rows = recipients
    .filter((recipient) => receivesCorrection(context, recipient, cause))
    .map((recipient) => toCorrectionRow(context, recipient, cause, now));
  return await insertCallbacks(trx, rows);
}

/** Writes the callback of a day manifest, in the database transaction that makes it. @returns its row number. */
export async function enqueueManifest(
  context: Context,
  trx: Transaction<Database>,
  recipient: Recipient,
  webhookId: string,
): Promise<number> {
  const row = toManifestRow(context, recipient, webhookId);
  const { insertId } = await trx.insertInto('callbacks').values(row).executeTakeFirstOrThrow();
  return requireRowNumber(insertId, 'a callback');
}

/**
 * Writes what a merchant lacks of these transactions, at the lowest priority. A second call adds nothing.
 * @returns how many callbacks were added.
 */
export async function enqueueMissing(
  context: Context,
  trx: Transaction<Database>,
  recipient: Recipient,
  transactionSeqs: number[],
): Promise<number> {
  const missing = await listMissing(context, trx, [recipient], transactionSeqs, { dueAt: WHEN_IDLE });
  await insertCallbacks(trx, missing);
  return missing.length;
}

/**
 * Writes what merchants with an open backfill lack of these transactions, before a newer callback: it must not overtake
 * them.
 * @param before by the transaction's row number: the sequence number of the newer callback.
 */
async function enqueueOlder(
  context: Context,
  trx: Transaction<Database>,
  recipients: Recipient[],
  before: Map<number, number>,
): Promise<void> {
  const open = recipients.filter((recipient) => recipient.isBackfilling);
  if (open.length === 0) return;
  const options = { dueAt: context.clock.now(), before };
  await insertCallbacks(trx, await listMissing(context, trx, open, [...before.keys()], options));
}

/** @returns how many were added. */
export async function insertCallbacks(trx: Transaction<Database>, rows: CallbackInsert[]): Promise<number> {
  let added = 0;
  for (let from = 0; from < rows.length; from += ROWS_MAX)
    added += await insertRows(trx, 'callbacks', rows.slice(from, from + ROWS_MAX), ONCE);
  return added;
}

function callbacksFor(
  context: Context,
  recipient: Recipient,
  causes: CallbackCause[],
  now: Date,
): { row: CallbackInsert; enqueued: EnqueuedCallback }[] {
  const hasFirst = new Set<number>();
  const made: ReturnType<typeof callbacksFor> = [];
  for (const cause of causes) {
    if (!receivesEvent(recipient, cause)) continue;
    const { seq, id } = cause.transaction;
    // a later event of the same transaction becomes due when the one before it is delivered
    const waits = hasFirst.has(seq) && !recipient.holds;
    hasFirst.add(seq);
    const row = toEventRow(context, recipient, cause, waits ? new Date(now.getTime() + RECHECK_MS) : now);
    const enqueued = { callback: row.webhook_id, merchant: recipient.id, transaction: id, origin: cause.origin };
    made.push({ row, enqueued });
  }
  return made;
}
