import type { KeyObject } from 'node:crypto';
import type { Insertable, Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import type { Source } from '../../domain/observation.ts';
import { type Operation, STATUS_UNREADABLE } from '../../domain/statuses.ts';
import { type MerchantFilter, matchesFilter, parseFilter } from '../../merchants/match-filter.ts';
import { holdsBack } from '../health/merchant-health.ts';
import { RECHECK_MS } from './check-order.ts';
import { deriveWebhookId } from './derive-webhook-id.ts';

const ROWS_MAX = 500;
/** Takes the place of the status in the `type` of a correction's callback. */
const CORRECTED = 'corrected';

/** A new event of a transaction, as the ledger wrote it in this database transaction. */
export type CallbackCause = {
  transaction: {
    seq: number;
    id: string;
    operation: Operation;
    reference: string | null;
    extra: string | null;
    platform: string | null;
  };
  event: { seq: number; status: string; at: Date; atWall: string; occurrence: number; sequence: number };
  previousStatus: string | null;
  source: 'webhook' | 'reconciliation';
  /** The observation that brought the event. */
  origin?: Source | undefined;
  /** Row number of the inferred event that this one replaces. Merchants notified of that event get a correction instead. */
  inPlaceOf?: number;
};

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
 * @param causes oldest event first for each transaction.
 * @returns the callbacks of these events, also those that were there before.
 */
export async function enqueueCallbacks(
  context: Context,
  trx: Transaction<Database>,
  causes: CallbackCause[],
): Promise<EnqueuedCallback[]> {
  if (causes.length === 0) return [];
  const recipients = await readRecipients(trx);
  const now = context.clock.now();
  const key = context.keys.callbackIds;
  const notified = await readNotified(trx, causes);
  const made = recipients.flatMap((recipient) => {
    const fresh = causes.filter(({ inPlaceOf }) => !notified.has(`${recipient.seq} ${inPlaceOf}`));
    return callbacksFor(recipient, fresh, key, now);
  });
  await insertCallbacks(
    trx,
    made.map(({ row }) => row),
  );
  return made.map(({ enqueued }) => enqueued);
}

/** @returns `<merchant> <event>` (row numbers) for each callback of an inferred event that is now replaced. */
async function readNotified(trx: Transaction<Database>, causes: CallbackCause[]): Promise<Set<string>> {
  const replacing = causes.filter((cause) => cause.inPlaceOf !== undefined);
  if (replacing.length === 0) return new Set();
  const rows = await trx
    .selectFrom('callbacks')
    .select(['merchant_seq', 'event_seq'])
    .where('transaction_seq', 'in', [...new Set(replacing.map(({ transaction }) => transaction.seq))])
    .where(
      'event_seq',
      'in',
      replacing.flatMap(({ inPlaceOf }) => inPlaceOf ?? []),
    )
    .execute();
  return new Set(rows.map((row) => `${row.merchant_seq} ${row.event_seq}`));
}

/**
 * A transaction before and after a correction by a person or by its own later history. `sequence` is the correction's.
 * A correction by the history is sent to recipients of the old state (`before`); new events have callbacks of their own.
 */
export type CorrectionCause = {
  seq: number;
  sequence: number;
  before: CorrectedTransaction;
  after: CorrectedTransaction;
  concerns: 'before' | 'either';
};

type CorrectedTransaction = Omit<CallbackCause['transaction'], 'seq'> & {
  events: { status: string; atWall: string }[];
};

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
  const { seq, sequence, before, after, concerns } = cause;
  const now = context.clock.now();
  const key = context.keys.callbackIds;
  const recipients = (await readRecipients(trx)).filter((recipient) =>
    (concerns === 'before' ? [before] : [before, after]).some((facts) =>
      facts.events.some(
        (event) =>
          event.status !== STATUS_UNREADABLE &&
          context.calendar.toInstant(event.atWall) >= recipient.eventsSince &&
          matchesFilter(recipient.filter, { ...facts, status: event.status }),
      ),
    ),
  );
  const rows = recipients.map((recipient) => ({
    webhook_id: deriveWebhookId(key, {
      merchantId: recipient.id,
      transactionId: after.id,
      status: CORRECTED,
      atWall: '',
      occurrence: sequence,
    }),
    merchant_seq: recipient.seq,
    transaction_seq: seq,
    event_seq: null,
    sequence,
    type: `pix.${after.operation}.${CORRECTED}`,
    previous_status: before.events.at(-1)?.status ?? null,
    source: 'reconciliation',
    state: recipient.holds ? 'held' : 'pending',
    next_attempt_at: now,
    created_at: now,
  }));
  return await insertCallbacks(trx, rows);
}

async function insertCallbacks(trx: Transaction<Database>, rows: Insertable<Database['callbacks']>[]): Promise<number> {
  let added = 0n;
  for (let from = 0; from < rows.length; from += ROWS_MAX) {
    const result = await trx
      .insertInto('callbacks')
      .values(rows.slice(from, from + ROWS_MAX))
      // webhook_id is the only unique key here that can clash
      .onDuplicateKeyUpdate((eb) => ({ webhook_id: eb.ref('webhook_id') }))
      .executeTakeFirstOrThrow();
    added += result.numInsertedOrUpdatedRows ?? 0n;
  }
  return Number(added);
}

type Recipient = { seq: number; id: string; filter: MerchantFilter; eventsSince: Date; holds: boolean };

// not cached: a merchant that was added a moment ago receives the events of now
async function readRecipients(trx: Transaction<Database>): Promise<Recipient[]> {
  const rows = await trx
    .selectFrom('merchants')
    .select(['seq', 'id', 'state', 'filter', 'events_since', 'breaker_opened_at', 'deleted_at'])
    .where('deleted_at', 'is', null)
    .execute();
  return rows.map((row) => ({
    seq: row.seq,
    id: row.id,
    filter: parseFilter(row.filter),
    eventsSince: row.events_since,
    holds: holdsBack(row),
  }));
}

function callbacksFor(
  recipient: Recipient,
  causes: CallbackCause[],
  key: KeyObject,
  now: Date,
): { row: Insertable<Database['callbacks']>; enqueued: EnqueuedCallback }[] {
  const hasFirst = new Set<number>();
  const made: ReturnType<typeof callbacksFor> = [];
  for (const { transaction, event, previousStatus, source, origin } of causes) {
    if (event.at < recipient.eventsSince) continue;
    if (!matchesFilter(recipient.filter, { ...transaction, status: event.status })) continue;
    const { status, atWall, occurrence } = event;
    // a later event of the same transaction becomes due when the one before it is delivered
    const waits = hasFirst.has(transaction.seq) && !recipient.holds;
    hasFirst.add(transaction.seq);
    const transactionId = transaction.id;
    const identity = { merchantId: recipient.id, transactionId, status, atWall, occurrence };
    const callback = deriveWebhookId(key, identity);
    const row = {
      webhook_id: callback,
      merchant_seq: recipient.seq,
      transaction_seq: transaction.seq,
      event_seq: event.seq,
      sequence: event.sequence,
      type: `pix.${transaction.operation}.${status}`,
      previous_status: previousStatus,
      source,
      state: recipient.holds ? 'held' : 'pending',
      next_attempt_at: waits ? new Date(now.getTime() + RECHECK_MS) : now,
      created_at: now,
      ...(origin?.traceparent === undefined ? {} : { traceparent: origin.traceparent }),
    };
    made.push({ row, enqueued: { callback, merchant: recipient.id, transaction: transactionId, origin } });
  }
  return made;
}
