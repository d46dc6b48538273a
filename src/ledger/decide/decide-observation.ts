/**
 * What one observation adds to a stored transaction. Pure: no clock, no database.
 *
 * Events are only added (extend-history.ts has the rules). Fixed facts (amount, operation, reference, extra, platform)
 * keep the first applied value; another value is a mismatch. Facts that may arrive later (commission, e2e id, the
 * parties) take the newest observation's value. So any snapshots of a growing history, in any order, repeated, end in
 * the same events.
 */
import type { MismatchKind } from '../../domain/mismatch.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Observation, ObservedTransaction } from '../../domain/observation.ts';
import { isFinal, isKnownStatus, STATUS_UNREADABLE } from '../../domain/statuses.ts';
import { checkFields, listReadableAgain } from './check-fields.ts';
import { checkHistory } from './check-history.ts';
import type { Difference } from './difference.ts';
import { eventKey, extendHistory, type History, numberEvents, type StoredEvent } from './extend-history.ts';
import { differs, FIXED_FACTS, pickFixedFacts } from './pick-fixed-facts.ts';

export type StoredTransaction = Omit<ObservedTransaction, 'events' | 'eventsInferred' | 'status'> &
  History & {
    /** Corrections of the known history: how many, and when a person last made one. */
    corrections: CorrectionSummary | undefined;
    digest: Buffer;
    askedAt: Date;
  };

/**
 * `sequence`: of the newest correction, which is numbered among the events. `acceptedAt`: of the newest one that a
 * person accepted; undefined where real events replaced inferred ones only.
 */
export type CorrectionSummary = { count: number; sequence: number; acceptedAt: Date | undefined };

/** The observed facts that a kind of mismatch compares. */
export type ConfirmedFacts = { kind: MismatchKind; shown: object };

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

/** What one observation says about the events that were known before it. */
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

type Observed = Pick<Observation, 'transaction' | 'askedAt' | 'digest' | 'unreadable'>;

const NO_HISTORY: History = { events: [], outOfForce: [], orderedAt: undefined };

export function decide(before: StoredTransaction | undefined, observed: Observed): Decision {
  const { transaction, askedAt } = observed;
  const { added, ...history } = extendHistory(before ?? NO_HISTORY, transaction, askedAt, {
    createdWall: (before ?? transaction).createdWall,
    learnt: countUsedSequences(before),
  });
  const facts = before ? mergeFacts(before, observed) : { ...withoutHistory(transaction), ...newest(observed) };
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
  const shown = new Set(numberEvents(events).map(eventKey));
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

/** Returns the columns of the transaction's row that summarize its history; undefined without an event. */
export function summarizeHistory(stored: StoredTransaction) {
  const last = stored.events.at(-1);
  if (!last) return undefined;
  return {
    status: last.status,
    status_wall: last.atWall,
    // of the event that gives the status, or of the newest correction
    sequence: Math.max(last.sequence, stored.corrections?.sequence ?? 0),
    event_count: stored.events.length + stored.outOfForce.length,
  };
}

/** Returns how many sequence numbers a transaction has used, for events and corrections. */
export function countUsedSequences(stored: StoredTransaction | undefined): number {
  return stored ? stored.events.length + stored.outOfForce.length + (stored.corrections?.count ?? 0) : 0;
}

type Facts = Omit<StoredTransaction, keyof History | 'corrections'>;

function mergeFacts(before: StoredTransaction, observed: Observed): Facts {
  const seen = observed.transaction;
  const newer = observed.askedAt >= before.askedAt;
  const paid = before.events.some((event) => event.status === 'paid');
  const latest = <T>(stored: T | null, shown: T | null): T | null => (newer ? (shown ?? stored) : (stored ?? shown));
  return {
    id: before.id,
    operation: before.operation,
    amountCents: before.amountCents,
    createdWall: before.createdWall,
    reference: before.reference ?? seen.reference,
    extra: before.extra ?? seen.extra,
    platform: before.platform ?? seen.platform,
    // once paid, the first known commission is the booked one
    commissionCents: paid
      ? (before.commissionCents ?? seen.commissionCents)
      : latest(before.commissionCents, seen.commissionCents),
    e2eId: latest(before.e2eId, seen.e2eId),
    name: latest(before.name, seen.name),
    email: latest(before.email, seen.email),
    phone: latest(before.phone, seen.phone),
    document: latest(before.document, seen.document),
    description: latest(before.description, seen.description),
    pixKey: latest(before.pixKey, seen.pixKey),
    // keep the old digest of an observation that was not compared: otherwise an equal later one would be skipped
    ...(newer && !isBeforeCorrection(before, observed)
      ? newest(observed)
      : { digest: before.digest, askedAt: before.askedAt }),
  };
}

/** An observation older than an accepted correction does not contradict it. */
function isBeforeCorrection({ corrections }: StoredTransaction, { askedAt }: Observed): boolean {
  return corrections?.acceptedAt !== undefined && askedAt <= corrections.acceptedAt;
}

function listConfirmed(
  before: StoredTransaction,
  observed: Observed,
  differences: Difference[],
): ConfirmedFacts[] | undefined {
  if (observed.askedAt < before.askedAt || isBeforeCorrection(before, observed)) return undefined;
  const { transaction: seen } = observed;
  const names = FIXED_FACTS.filter((name) => seen[name] !== null);
  const all: ConfirmedFacts[] = [
    { kind: 'amount_differs', shown: amountOf(seen) },
    { kind: 'reference_differs', shown: pickFixedFacts(seen, names) },
    { kind: 'commission_differs', shown: seen.commissionCents === null ? {} : commissionOf(seen) },
  ];
  return all.filter(({ kind }) => !differences.some((difference) => difference.kind === kind));
}

function compareFacts(before: StoredTransaction, observed: Observed): Difference[] {
  if (isBeforeCorrection(before, observed)) return [];
  const { transaction: seen, askedAt } = observed;
  const found: Difference[] = [];
  if (before.amountCents !== seen.amountCents || before.operation !== seen.operation) {
    found.push({ kind: 'amount_differs', expected: amountOf(before), actual: amountOf(seen) });
  }
  const names = FIXED_FACTS.filter((name) => differs(before[name], seen[name]));
  if (names.length > 0) {
    found.push({
      kind: 'reference_differs',
      expected: pickFixedFacts(before, names),
      actual: pickFixedFacts(seen, names),
    });
  }
  // a late observation from before the payment says nothing about later commissions
  const paid = [before.events, seen.events].every((events) => events.some((event) => event.status === 'paid'));
  if (paid && differs(before.commissionCents, seen.commissionCents)) {
    found.push({ kind: 'commission_differs', expected: commissionOf(before), actual: commissionOf(seen) });
  }
  return askedAt < before.askedAt ? found.map((difference) => ({ ...difference, outdated: true })) : found;
}

function amountOf(facts: Pick<ObservedTransaction, 'amountCents' | 'operation'>): object {
  return { amount: formatAmount(facts.amountCents), operation: facts.operation };
}

function commissionOf(facts: Pick<ObservedTransaction, 'commissionCents'>): object {
  return { commission: facts.commissionCents === null ? null : formatAmount(facts.commissionCents) };
}

function withoutHistory(
  transaction: ObservedTransaction,
): Omit<ObservedTransaction, 'events' | 'eventsInferred' | 'status'> {
  const { events: _, eventsInferred: __, status: ___, ...facts } = transaction;
  return facts;
}

function newest(observed: Observed): { digest: Buffer; askedAt: Date } {
  return { digest: observed.digest, askedAt: observed.askedAt };
}

function sameFacts(before: StoredTransaction, after: StoredTransaction): boolean {
  return FACTS.every((name) => before[name] === after[name]);
}

/** Compares by identity: unchanged events remain the same objects. */
function sameHistory(before: History, after: History): boolean {
  const same = (a: StoredEvent[], b: StoredEvent[]): boolean => a.length === b.length && a.every((e, i) => e === b[i]);
  return same(before.events, after.events) && same(before.outOfForce, after.outOfForce);
}

const FACTS = [
  'commissionCents',
  'reference',
  'extra',
  'platform',
  'e2eId',
  'name',
  'email',
  'phone',
  'document',
  'description',
  'pixKey',
] as const;
