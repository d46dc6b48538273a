import type { Insertable } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import type { Source } from '../../domain/observation.ts';
import type { StoredEvent } from '../../domain/sort-history.ts';
import { type Operation, STATUS_UNREADABLE } from '../../domain/statuses.ts';
import {
  type FilterableExpected,
  type MerchantFilter,
  matchesExpected,
  matchesFilters,
} from '../../merchants/match-filter.ts';
import { EXPECTED_SOURCE, MANIFEST_SOURCE, toSubject } from '../health/callback-sources.ts';
import { EXPECTED_TYPE, MANIFEST_TYPE } from '../render/renderable.ts';
import {
  CORRECTED,
  type CorrectionContent,
  deriveCorrectionId,
  deriveEventId,
  deriveExpectedId,
} from './derive-webhook-id.ts';

export type TransactionFacts = {
  id: string;
  operation: Operation;
  reference: string | null;
  extra: string | null;
  platform: string | null;
};

/** An event of a transaction that may cause callbacks. */
export type CallbackCause = {
  transaction: TransactionFacts & { seq: number };
  event: Pick<StoredEvent, 'status' | 'atWall' | 'occurrence' | 'number' | 'sequence'> & { seq: number; at: Date };
  previousStatus: string | null;
  source: 'webhook' | 'reconciliation';
  /** The observation that brought the event. */
  origin?: Source | undefined;
  /** Row numbers of the inferred events that this one replaces. Merchants notified of any get a correction instead. */
  inPlaceOf?: number[];
};

/**
 * A transaction before and after a correction by a person or by its own later history. `sequence` is the correction's.
 * A correction by the history is sent to recipients of the old state (`before`); new events have callbacks of their own.
 */
export type CorrectionCause = {
  seq: number;
  sequence: number;
  /** Null: made by a version that did not store it. */
  content: CorrectionContent | null;
  before: CorrectedTransaction;
  after: CorrectedTransaction;
  concerns: 'before' | 'either';
};

type CorrectedTransaction = TransactionFacts & { events: { status: string; atWall: string }[] };

/** A change of an expected payment that may cause callbacks. `content`: as `deriveExpectedId` takes it. */
export type ExpectedCause = {
  seq: number;
  id: string;
  sequence: number;
  state: string;
  at: Date;
  content: CorrectionContent;
  /** The merchant that sent it, which alone receives it; null: none did. */
  merchantSeq: number | null;
  /** The facts of its version as of the change. */
  facts: FilterableExpected;
};

/** A merchant that receives callbacks. */
export type Recipient = {
  seq: number;
  id: string;
  filters: readonly MerchantFilter[];
  eventsSince: Date;
  /** Its callbacks are held: it is paused, disabled or failing. */
  holds: boolean;
  /** It fetches its events: nothing is sent to it. */
  pulls: boolean;
  /** Callbacks of events that the ledger knew before may be missing. */
  isBackfilling: boolean;
  /** Callbacks of events learnt up to then may have been delivered, and deleted since. */
  droppedTo: Date | null;
};

export type CallbackInsert = Insertable<Database['callbacks']> & { webhook_id: string };

type RecipientRules = Pick<Recipient, 'filters' | 'eventsSince'>;

export function receivesEvent(recipient: RecipientRules, { transaction, event }: CallbackCause): boolean {
  return (
    event.at >= recipient.eventsSince && matchesFilters(recipient.filters, { ...transaction, status: event.status })
  );
}

/** Whether a merchant receives any event of the transaction as it was before or, if it concerns `either`, as it is now. */
export function receivesCorrection(context: Context, recipient: RecipientRules, cause: CorrectionCause): boolean {
  const { before, after, concerns } = cause;
  return (concerns === 'before' ? [before] : [before, after]).some((facts) =>
    facts.events.some(
      (event) =>
        event.status !== STATUS_UNREADABLE &&
        context.calendar.toInstant(event.atWall) >= recipient.eventsSince &&
        matchesFilters(recipient.filters, { ...facts, status: event.status }),
    ),
  );
}

export function receivesExpected(recipient: RecipientRules & { seq: number }, cause: ExpectedCause): boolean {
  const isIts = cause.merchantSeq === null || cause.merchantSeq === recipient.seq;
  return isIts && cause.at >= recipient.eventsSince && matchesExpected(recipient.filters, cause.facts);
}

export function toExpectedRow(
  context: Context,
  recipient: Recipient,
  cause: ExpectedCause,
  dueAt: Date,
): CallbackInsert {
  const subject = { merchantId: recipient.id, expectedId: cause.id };
  return {
    webhook_id: deriveExpectedId(context.keys.callbackIds, subject, cause.content),
    transaction_seq: toSubject(cause.seq),
    event_seq: null,
    sequence: cause.sequence,
    ...{ type: `${EXPECTED_TYPE}${cause.state}`, source: EXPECTED_SOURCE },
    ...queueColumns(context, recipient, dueAt),
  };
}

export function toEventRow(context: Context, recipient: Recipient, cause: CallbackCause, dueAt: Date): CallbackInsert {
  const { transaction, event } = cause;
  const subject = { merchantId: recipient.id, transactionId: transaction.id };
  return {
    webhook_id: deriveEventId(context.keys.callbackIds, subject, event),
    transaction_seq: transaction.seq,
    event_seq: event.seq,
    sequence: event.sequence,
    type: `pix.${transaction.operation}.${event.status}`,
    previous_status: cause.previousStatus,
    source: cause.source,
    ...queueColumns(context, recipient, dueAt),
    ...(cause.origin?.traceparent === undefined ? {} : { traceparent: cause.origin.traceparent }),
  };
}

export function toCorrectionRow(
  context: Context,
  recipient: Recipient,
  { seq, sequence, content, before, after }: CorrectionCause,
  dueAt: Date,
): CallbackInsert {
  const subject = { merchantId: recipient.id, transactionId: after.id };
  return {
    webhook_id: deriveCorrectionId(context.keys.callbackIds, subject, { sequence, content }),
    transaction_seq: seq,
    event_seq: null,
    sequence,
    type: `pix.${after.operation}.${CORRECTED}`,
    previous_status: before.events.at(-1)?.status ?? null,
    source: 'reconciliation',
    ...queueColumns(context, recipient, dueAt),
  };
}

/** The callback of a day manifest. It has no transaction, and waits for no other callback. */
/** Until then the sealer has appended its leaf, and a checkpoint proves it. */
const PROVEN_AFTER_MS = 150_000;

export function toManifestRow(context: Context, recipient: Recipient, webhookId: string): CallbackInsert {
  return {
    ...{ webhook_id: webhookId, type: MANIFEST_TYPE, source: MANIFEST_SOURCE },
    ...queueColumns(context, recipient, new Date(context.clock.now().getTime() + PROVEN_AFTER_MS)),
  };
}

/** A callback of a merchant that fetches its events is never due: it is pending until the merchant's cursor passes it. */
function queueColumns(context: Context, { seq, holds, pulls }: Recipient, dueAt: Date) {
  return {
    merchant_seq: seq,
    state: holds && !pulls ? 'held' : 'pending',
    next_attempt_at: pulls ? null : dueAt,
    created_at: context.clock.now(),
  };
}
