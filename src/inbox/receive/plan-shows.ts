import { MINUTE_MS } from '../../domain/calendar.ts';
import { smallest } from '../../domain/lists.ts';
/**
 * Decides which items may send a show to the provider, and which wait for the next reading of its list. Only ids and
 * references that the provider does not know are charged: otherwise a stranger could cause thousands of requests with one
 * POST.
 *
 * The first FIRST_IDS ids of a body get one show each at once if their sender had a hit in the last hour. A sender without
 * a hit gets SENDER_SHOWS_PER_HOUR shows an hour. A further show of a denied id is charged to the same hour, at most
 * BODY_MISSES_MAX for each body. Ids that the ledger knows are always shown; those beyond the first FIRST_IDS take turns,
 * KNOWN_SHOWS_PER_MINUTE in each minute, and start over after the last, however often the body is repeated.
 *
 * Items that wait for the list are not polled: they are retried when the ledger has learnt them
 * (retry-learnt-items.ts), and at the end of the grace.
 */

/** Ids of one body that are shown at once. */
export const FIRST_IDS = 10;
/** Shows of denied ids for one body, over all its fetches. */
export const BODY_MISSES_MAX = 10;
/** Shows of one sender within an hour; hits are refunded. */
export const SENDER_SHOWS_PER_HOUR = 300;
/** How long a hit proves its sender. */
export const HIT_TTL_MS = 3_600_000;
/** Known ids of one body beyond the first. The first are fetched at most six times a minute: together below 100 requests. */
export const KNOWN_SHOWS_PER_MINUTE = 10;

/** An item, its webhook and its sender, as far as the plan depends on them. */
export type ShowCandidate = {
  position: number;
  misses: number;
  granted: boolean;
  receivedAt: Date;
  fetchedAt: Date | null;
  /** Number of items of its body. */
  itemsInWebhook: number;
  /** Whether an unknown key causes a request. An extra does not: it is looked up in the ledger only. */
  asksProvider: boolean;
  /** Whether the ledger has the transaction. */
  isKnown: boolean;
  /** Whether its sender had a hit within HIT_TTL_MS. */
  hadHit: boolean;
  /** Denied shows of all items of its body. */
  bodyMisses: number;
};

export type ShowPlan =
  | { kind: 'show' }
  /** A show, if the sender's budget allows it. */
  | { kind: 'charge' }
  /** No show now, and none before `notBefore`. */
  | { kind: 'list'; notBefore: Date | undefined };

/** Whether this is the first show of one of the first ids of a body. */
export function isFirstShow(one: Pick<ShowCandidate, 'position' | 'misses'>): boolean {
  return one.position < FIRST_IDS && one.misses === 0;
}

/** Decides whether the fetch of an item may send a show. Pure. */
export function planShow(one: ShowCandidate, now: Date): ShowPlan {
  if (one.granted) return { kind: 'show' };
  if (one.isKnown) return planKnown(one, now);
  if (one.position >= FIRST_IDS) return { kind: 'list', notBefore: undefined };
  if (!one.asksProvider) return { kind: 'show' };
  if (one.misses === 0) return one.hadHit ? { kind: 'show' } : { kind: 'charge' };
  return one.bodyMisses < BODY_MISSES_MAX ? { kind: 'charge' } : { kind: 'list', notBefore: undefined };
}

/** @returns the best plan of items with the same key: they share one fetch. Pure. */
export function chooseBestPlan(plans: ShowPlan[]): ShowPlan {
  const best = plans.find(({ kind }) => kind === 'show') ?? plans.find(({ kind }) => kind === 'charge');
  if (best) return best;
  const waits = plans.flatMap((plan) => (plan.kind === 'list' && plan.notBefore ? [plan.notBefore.getTime()] : []));
  return { kind: 'list', notBefore: waits.length > 0 ? new Date(smallest(waits)) : undefined };
}

/** The turn follows from the position in the body and the minute, so no counter is stored. */
function planKnown(one: ShowCandidate, now: Date): ShowPlan {
  if (one.position < FIRST_IDS) return { kind: 'show' };
  const turn = Math.floor((one.position - FIRST_IDS) / KNOWN_SHOWS_PER_MINUTE);
  const turns = Math.max(turn + 1, Math.ceil((one.itemsInWebhook - FIRST_IDS) / KNOWN_SHOWS_PER_MINUTE));
  const startOf = (round: number): number => one.receivedAt.getTime() + (1 + turn + round * turns) * MINUTE_MS;
  const round = Math.floor((now.getTime() - startOf(0)) / (turns * MINUTE_MS));
  const isTurn = round >= 0 && now.getTime() < startOf(round) + MINUTE_MS;
  const isDone = one.fetchedAt !== null && one.fetchedAt.getTime() >= startOf(round);
  if (isTurn && !isDone) return { kind: 'show' };
  return { kind: 'list', notBefore: new Date(startOf(Math.max(0, round + 1))) };
}
