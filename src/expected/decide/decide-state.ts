/** Decides the state of an expected payment: the first line of the table that fits. Pure. */
import type { Day } from '../../domain/calendar.ts';
import { compareText } from '../../domain/lists.ts';
import type { MismatchKind } from '../../domain/mismatch.ts';
import type { Standing } from './facts.ts';

export const EXPECTED_STATES = [
  ...(['open', 'paid', 'underpaid', 'overpaid', 'paid_twice', 'unpaid', 'not_proven'] as const),
  ...(['refunded', 'partly_refunded', 'cancelled', 'paid_after_cancel'] as const),
] as const;
export type ExpectedState = (typeof EXPECTED_STATES)[number];

/** A part of a payment that is matched. `day`: of its first paid event. */
export type Part = { amountCents: bigint; standing: Standing; day: Day };

export type StateFacts = {
  amountCents: bigint;
  isCancelled: boolean;
  parts: readonly Part[];
  hasCandidates: boolean;
  /** Whether its end is over, by the provider's calendar. */
  isOver: boolean;
  /** Days from issue to end that no reading proved that was asked for after the end. */
  lacks: number;
};

/** `settledCents`, `returnedCents`: sums of parts. `parts`: how many are settled. `paidDay`: on which the amount was reached. */
export type DecidedState = {
  state: ExpectedState;
  reasonCode: string | null;
  settledCents: bigint;
  returnedCents: bigint;
  parts: number;
  paidDay: Day | null;
};

export function decideState(facts: StateFacts): DecidedState {
  const settled = facts.parts.filter(({ standing }) => standing === 'settled');
  const settledCents = sum(settled);
  const returnedCents = sum(facts.parts.filter(({ standing }) => standing === 'returned'));
  const sums = { settledCents, returnedCents, parts: settled.length };
  const state = chooseState(facts, sums);
  return {
    state,
    reasonCode: nameReason(state, facts.hasCandidates),
    ...sums,
    paidDay: findPaidDay(settled, facts.amountCents),
  };
}

type Sums = Pick<DecidedState, 'settledCents' | 'returnedCents' | 'parts'>;

/** Returns the first state that fits the facts and the sums of parts. */
export function chooseState(
  facts: Omit<StateFacts, 'parts' | 'hasCandidates'>,
  { settledCents, returnedCents, parts }: Sums,
): ExpectedState {
  const { amountCents } = facts;
  if (facts.isCancelled) return settledCents > 0n ? 'paid_after_cancel' : 'cancelled';
  if (parts >= 2 && settledCents >= 2n * amountCents) return 'paid_twice';
  if (settledCents >= amountCents) return settledCents > amountCents ? 'overpaid' : 'paid';
  if (settledCents > 0n) return returnedCents > 0n ? 'partly_refunded' : 'underpaid';
  if (returnedCents > 0n) return 'refunded';
  if (!facts.isOver) return 'open';
  return facts.lacks === 0 ? 'unpaid' : 'not_proven';
}

/** A stable name of why it has its state; null for those that need no reason. */
export function nameReason(state: ExpectedState, hasCandidates: boolean): string | null {
  if (state === 'open' || state === 'paid') return null;
  return hasCandidates && (state === 'unpaid' || state === 'not_proven') ? `${state}_candidates` : state;
}

function findPaidDay(settled: readonly Part[], amountCents: bigint): Day | null {
  let left = amountCents;
  for (const { amountCents: part, day } of settled.toSorted((a, b) => compareText(a.day, b.day))) {
    left -= part;
    if (left <= 0n) return day;
  }
  return null;
}

function sum(parts: readonly Part[]): bigint {
  return parts.reduce((total, { amountCents }) => total + amountCents, 0n);
}

/** The mismatch that a state opens. */
export function mismatchOf(state: string): Extract<MismatchKind, `amount_not${string}` | `paid_${string}`> | undefined {
  if (state === 'underpaid' || state === 'overpaid') return 'amount_not_expected';
  return state === 'paid_twice' || state === 'paid_after_cancel' ? state : undefined;
}
