/**
 * The facts of a transaction beside its history: merges an observation into the stored facts, and compares the two. Pure.
 */

import { createHash } from 'node:crypto';
import type { MismatchKind } from '../../domain/mismatch.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Observation, ObservedTransaction } from '../../domain/observation.ts';
import type { History } from '../../domain/sort-history.ts';
import { addCommission, type CommissionEvidence, decideCommission, readEvidence } from './commission-evidence.ts';
import type { StoredTransaction } from './stored-transaction.ts';

/** `outdated`: the evidence is older than an observation that is already stored. */
export type Difference = { kind: MismatchKind; expected: unknown; actual: unknown; outdated?: boolean };

export type Observed = Pick<Observation, 'transaction' | 'askedAt' | 'digest' | 'unreadable'>;

/** The observed facts that a kind of mismatch compares. */
export type ConfirmedFacts = { kind: MismatchKind; shown: object };

type Facts = Omit<StoredTransaction, keyof History | 'corrections'>;

/** The facts of an observation, without its history. */
export function readFacts({ transaction, askedAt, digest }: Observed): Facts {
  const { events: _, eventsInferred: __, status: ___, ...facts } = transaction;
  const commissionEvidence = addCommission({}, describeCommission(transaction, askedAt));
  return { ...facts, commissionEvidence, digest, askedAt };
}

function describeCommission(
  { commissionCents: cents, events }: Pick<StoredTransaction, 'commissionCents'> & { events: { status: string }[] },
  askedAt: Date,
) {
  return { cents, atMs: askedAt.getTime(), isPaid: isPaid(events) };
}

function isPaid(events: { status: string }[]): boolean {
  return events.some((event) => event.status === 'paid');
}

function joinEvidence(before: StoredTransaction, { transaction, askedAt }: Observed): CommissionEvidence {
  const known = readEvidence(before.commissionEvidence, describeCommission(before, before.askedAt));
  return addCommission(known, describeCommission(transaction, askedAt));
}

/** Merges an observation into stored facts. */
export function mergeFacts(before: StoredTransaction, observed: Observed): Facts {
  const seen = observed.transaction;
  const newer = observed.askedAt >= before.askedAt;
  const commissionEvidence = joinEvidence(before, observed);
  const latest = <T>(stored: T | null, shown: T | null): T | null => (newer ? (shown ?? stored) : (stored ?? shown));
  return {
    id: before.id,
    operation: before.operation,
    amountCents: before.amountCents,
    createdWall: before.createdWall,
    reference: before.reference ?? seen.reference,
    extra: before.extra ?? seen.extra,
    platform: before.platform ?? seen.platform,
    commissionCents: decideCommission(commissionEvidence),
    commissionEvidence,
    e2eId: latest(before.e2eId, seen.e2eId),
    name: latest(before.name, seen.name),
    email: latest(before.email, seen.email),
    phone: latest(before.phone, seen.phone),
    document: latest(before.document, seen.document),
    description: latest(before.description, seen.description),
    pixKey: latest(before.pixKey, seen.pixKey),
    // keep the old digest of an observation that was not compared: otherwise an equal later one would be skipped
    ...(newer && !isBeforeCorrection(before, observed)
      ? { digest: observed.digest, askedAt: observed.askedAt }
      : { digest: before.digest, askedAt: before.askedAt }),
  };
}

/** Whether no fact that may arrive later has changed. */
export function sameFacts(before: StoredTransaction, after: StoredTransaction): boolean {
  return FACTS.every((name) => before[name] === after[name]);
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

/** Returns the facts that differ from the stored ones. */
export function compareFacts(before: StoredTransaction, observed: Observed): Difference[] {
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
  const after = mergeFacts(before, observed);
  const isKept = before.commissionCents === after.commissionCents;
  if (isKept && isPaid(before.events) && isPaid(seen.events) && differs(before.commissionCents, seen.commissionCents)) {
    found.push({ kind: 'commission_differs', expected: commissionOf(before), actual: commissionOf(seen) });
  }
  if (askedAt < before.askedAt) for (const difference of found) difference.outdated = true;
  // an earlier observation arrived late: what was booked is the change after the payment
  const wasPaid = before.commissionEvidence?.paid?.cents === before.commissionCents;
  if (!isKept && wasPaid && differs(before.commissionCents, after.commissionCents)) {
    found.push({ kind: 'commission_differs', expected: commissionOf(after), actual: commissionOf(before) });
  }
  return found;
}

/** Returns the facts that equal the stored ones; undefined for an observation older than the stored one. */
export function listConfirmed(
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

/** An observation older than an accepted correction does not contradict it. */
function isBeforeCorrection({ corrections }: StoredTransaction, { askedAt }: Observed): boolean {
  return corrections?.acceptedAt !== undefined && askedAt <= corrections.acceptedAt;
}

function amountOf(facts: Pick<ObservedTransaction, 'amountCents' | 'operation'>): object {
  return { amount: formatAmount(facts.amountCents), operation: facts.operation };
}

function commissionOf(facts: Pick<ObservedTransaction, 'commissionCents'>): object {
  return { commission: facts.commissionCents === null ? null : formatAmount(facts.commissionCents) };
}

/** Facts that identify a transaction and must not change. */
const FIXED_FACTS = ['reference', 'extra', 'platform', 'createdWall'] as const;
type Key = (typeof FIXED_FACTS)[number];

/** Returns some fixed facts as evidence; an extra, which is free text, by its hash. */
function pickFixedFacts(facts: Pick<ObservedTransaction, Key>, names: Key[]): object {
  const evidence = (name: Key): [string, string | null] => {
    if (name === 'createdWall') return ['date_created', facts.createdWall];
    return [name, name === 'extra' ? hashText(facts.extra) : facts[name]];
  };
  return Object.fromEntries(names.map(evidence));
}

function hashText(text: string | null): string | null {
  return text === null ? null : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** Null is unknown and differs from nothing. */
function differs<T>(stored: T | null, shown: T | null): boolean {
  return stored !== null && shown !== null && stored !== shown;
}
