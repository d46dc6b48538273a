import type { KeyObject } from 'node:crypto';
import type { Insertable, Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { type Operation, STATUS_UNREADABLE } from '../../domain/statuses.ts';
import { type MerchantFilter, matchesFilter, parseFilter } from '../../merchants/match-filter.ts';
import { holdsBack } from '../health/merchant-health.ts';
import { RECHECK_MS } from './check-order.ts';
import { deriveWebhookId } from './derive-webhook-id.ts';

const ROWS_MAX = 500;
/** What stands for a status in the type of a correction's callback. */
const CORRECTED = 'corrected';

/** A new event of a transaction, as the ledger has just written it. */
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
  /** The number of an inferred event that this one stands in place of: who heard of that one hears of a correction. */
  inPlaceOf?: number;
};

/**
 * Writes the callbacks of new events, in the transaction that wrote the events: for each merchant whose filter matches
 * and that is told of events of that time. Which merchants those are is decided here, once. Doing it again adds
 * nothing. The caller rings `context.bells.callbacks` after its commit.
 * @param causes for each transaction the oldest event first.
 * @returns how many callbacks were added.
 */
export async function enqueueCallbacks(
  context: Context,
  trx: Transaction<Database>,
  causes: CallbackCause[],
): Promise<number> {
  if (causes.length === 0) return 0;
  const recipients = await readRecipients(trx);
  const now = context.clock.now();
  const key = context.keys.callbackIds;
  const notified = await readNotified(trx, causes);
  return await insertCallbacks(
    trx,
    recipients.flatMap((recipient) => {
      const news = causes.filter(({ inPlaceOf }) => !notified.has(`${recipient.seq} ${inPlaceOf}`));
      return routeTo(recipient, news, key, now);
    }),
  );
}

/** Which merchants have a callback of an inferred event that gave way, as `merchant event`. */
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
      replacing.map((cause) => cause.inPlaceOf ?? 0),
    )
    .execute();
  return new Set(rows.map((row) => `${row.merchant_seq} ${row.event_seq}`));
}

/**
 * A transaction that a person or its own history corrected, before and after. `sequence` is the correction's. A history
 * that corrects itself concerns those who heard of it as it was (`before`): of what is new in it they hear by its events.
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
 * Writes the callbacks of a correction, in the transaction that made it: for each merchant that is to be told of any of
 * the transaction's events, as it was before or, where `concerns` says so, as it is now. So whoever heard of what was
 * wrong hears that it was.
 */
export async function enqueueCorrection(
  context: Context,
  trx: Transaction<Database>,
  cause: CorrectionCause,
): Promise<number> {
  const { seq, sequence, before, after, concerns } = cause;
  const now = context.clock.now();
  const key = context.keys.callbackIds;
  const concerned = (await readRecipients(trx)).filter((recipient) =>
    (concerns === 'before' ? [before] : [before, after]).some((facts) =>
      facts.events.some(
        (event) =>
          event.status !== STATUS_UNREADABLE &&
          context.calendar.toInstant(event.atWall) >= recipient.eventsSince &&
          matchesFilter(recipient.filter, { ...facts, status: event.status }),
      ),
    ),
  );
  const rows = concerned.map((recipient) => ({
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
      // webhook_id is the only key of ours that can clash
      .onDuplicateKeyUpdate((eb) => ({ webhook_id: eb.ref('webhook_id') }))
      .executeTakeFirstOrThrow();
    added += result.numInsertedOrUpdatedRows ?? 0n;
  }
  return Number(added);
}

type Recipient = { seq: number; id: string; filter: MerchantFilter; eventsSince: Date; holds: boolean };

// read anew each time: a merchant that was added a moment ago is told of what happens now
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

function routeTo(
  recipient: Recipient,
  causes: CallbackCause[],
  key: KeyObject,
  now: Date,
): Insertable<Database['callbacks']>[] {
  const begun = new Set<number>();
  const rows: Insertable<Database['callbacks']>[] = [];
  for (const { transaction, event, previousStatus, source } of causes) {
    if (event.at < recipient.eventsSince) continue;
    if (!matchesFilter(recipient.filter, { ...transaction, status: event.status })) continue;
    const { status, atWall, occurrence } = event;
    // a later event of the same transaction is woken when the one before it is delivered
    const waits = begun.has(transaction.seq) && !recipient.holds;
    begun.add(transaction.seq);
    rows.push({
      webhook_id: deriveWebhookId(key, {
        merchantId: recipient.id,
        transactionId: transaction.id,
        status,
        atWall,
        occurrence,
      }),
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
    });
  }
  return rows;
}
