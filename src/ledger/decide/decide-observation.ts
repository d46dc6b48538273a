/**
 * Decides the changes that one observation makes to a stored transaction. Pure: no clock, no database.
 *
 * Events are only added (extend-history.ts has the rules). Fixed facts (amount, operation, reference, extra, platform)
 * keep the first applied value; another value is a mismatch. Facts that may arrive later (commission, e2e id, the
 * parties) take the newest observation's value. So any snapshots of a growing history, in any order, repeated, end in
 * the same events.
 */

import type { MismatchKind } from '../../domain/mismatch.ts';
import { eventKey, type History, numberEvents, type StoredEvent } from '../../domain/sort-history.ts';
import { isFinal, isKnownStatus, STATUS_UNREADABLE } from '../../domain/statuses.ts';
import { checkFields, listReadableAgain } from './check-fields.ts';
import { checkHistory } from './check-history.ts';
import { extendHistory } from './extend-history.ts';
import {
  type ConfirmedFacts,
  compareFacts,
  type Difference,
  listConfirmed,
  mergeFacts,
  type Observed,
  readFacts,
  sameFacts,
} from './merge-facts.ts';
import { countUsedSequences, type StoredTransaction } from './stored-transaction.ts';

export type Decision = {
  after: StoredTransaction;
  /** Whether a fact or an event is new or changed. */
  isChanged: boolean;
  added: StoredEvent[];
  found: Difference[];
  /** Kinds that this observation resolves. */
  resolved: MismatchKind[];
  /** Facts that equal the stored ones; undefined for an observation older than the stored one. */
  confirmed: ConfirmedFacts[] | undefined;
  historyEvidence: HistoryEvidence;
};

/** The evidence of one observation about the events that were known before it. */
export type HistoryEvidence = {
  isComplete: boolean;
  /** Whether it is newer than the stored observation. */
  isNewest: boolean;
  /** The row's own status, and the statuses of its history, oldest first. */
  status: string;
  history: string[];
  /** Whether the row's own status is that of its newest event; undefined where the observation does not say. */
  statusAgrees: boolean | undefined;
  lacks: StoredEvent[];
  showsAgain: StoredEvent[];
};

const NO_HISTORY: History = { events: [], outOfForce: [], orderedAt: undefined };

export function decide(before: StoredTransaction | undefined, observed: Observed): Decision {
  const { transaction, askedAt } = observed;
  const { added, ...history } = extendHistory(before ?? NO_HISTORY, transaction, askedAt, {
    createdWall: (before ?? transaction).createdWall,
    learnt: countUsedSequences(before),
  });
  const facts = before ? mergeFacts(before, observed) : readFacts(observed);
  const after: StoredTransaction = { ...facts, ...history, corrections: before?.corrections };
  const evidence = collectEvidence(before, after, observed);
  // the status shown by a later observation replaces that of an earlier one
  const own = evidence.isNewest && transaction.status !== STATUS_UNREADABLE ? transaction.status : undefined;
  const newestStatus = after.events.at(-1)?.status ?? transaction.status;
  const isOver = isKnownStatus(newestStatus) && (own === undefined ? added.length > 0 : isKnownStatus(own));
  const differences = before ? compareFacts(before, observed) : [];
  return {
    after,
    isChanged: !before || added.length > 0 || !sameFacts(before, after) || !sameHistory(before, after),
    added,
    found: [...differences, ...checkHistory(after.events, own), ...checkFields(before, observed)],
    resolved: [...(isOver ? ['unknown_status' as const] : []), ...listReadableAgain(before, observed)],
    confirmed: before && listConfirmed(before, observed, differences),
    historyEvidence: evidence,
  };
}

function collectEvidence(
  before: StoredTransaction | undefined,
  after: StoredTransaction,
  observed: Observed,
): HistoryEvidence {
  const { transaction, askedAt } = observed;
  const isNewest = before === undefined || askedAt > before.askedAt;
  const isComplete = before !== undefined && isNewest && !transaction.eventsInferred;
  const { status, events } = transaction;
  const history = transaction.eventsInferred ? [] : events.map((event) => event.status);
  const evidence = { isComplete, isNewest, status, history, statusAgrees: agreesWithHistory(after, observed) };
  if (!isComplete) return { ...evidence, lacks: [], showsAgain: [] };
  const shown = new Set(numberEvents(events, [...before.events, ...before.outOfForce]).map(eventKey));
  const isShown = (event: StoredEvent): boolean => shown.has(eventKey(event));
  // only a final or the newest status must be shown again: others are transitional
  const newest = after.events.at(-1);
  const counts = (event: StoredEvent): boolean =>
    isFinal(event.status) || (newest !== undefined && eventKey(event) === eventKey(newest));
  // an inferred event may be shown at another time
  const lacks = (event: StoredEvent): boolean =>
    event.inferred ? counts(event) && ![...history, status].includes(event.status) : !isShown(event);
  const since = before.corrections?.acceptedAt;
  return {
    ...evidence,
    lacks: before.events.filter(lacks).map((event) => findCurrentEvent(after, event)),
    showsAgain: since && askedAt > since ? before.outOfForce.filter((event) => !event.inferred && isShown(event)) : [],
  };
}

/** Returns the event that now represents this one: an inferred event may have been replaced by one at another time. */
export function findCurrentEvent({ events }: History, event: StoredEvent): StoredEvent {
  const current = event.inferred ? events.find((one) => one.inferred && one.status === event.status) : undefined;
  return current ?? event;
}

/**
 * Whether a row's own status is that of its newest event. For a row without a history it is compared with our newest
 * event; undefined where that event was itself inferred though histories were shown.
 */
function agreesWithHistory({ events, orderedAt }: StoredTransaction, { transaction }: Observed): boolean | undefined {
  const { status } = transaction;
  if (!transaction.eventsInferred) return transaction.events.at(-1)?.status === status;
  const newest = events.at(-1);
  if (status === STATUS_UNREADABLE || newest === undefined || newest.status === STATUS_UNREADABLE) return undefined;
  if (newest.status !== status) return false;
  return newest.inferred && orderedAt !== undefined ? undefined : true;
}

/** Compares by identity: unchanged events remain the same objects. */
function sameHistory(before: History, after: History): boolean {
  const same = (a: StoredEvent[], b: StoredEvent[]): boolean => a.length === b.length && a.every((e, i) => e === b[i]);
  return same(before.events, after.events) && same(before.outOfForce, after.outOfForce);
}
