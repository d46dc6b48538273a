/**
 * Which looks may ask the provider, and which wait for the next reading of its list. Only ids and references that the
 * provider does not know cost anything: a stranger could otherwise buy thousands of requests with one POST.
 *
 * The first FIRST_IDS of a body get one show at once while their sender had a hit in the last hour. A sender without a hit
 * gets SENDER_SHOWS_AN_HOUR shows an hour. A further show of an id that was denied is paid from the same hour, and a body
 * buys BODY_MISSES_MAX of them. What the ledger knows is always shown. Those beyond the first FIRST_IDS of a body take
 * turns, KNOWN_SHOWS_A_MINUTE in each minute, and begin again after the last, however often the body is repeated.
 *
 * What waits for the list is not polled: it is looked at when the ledger has learnt it (retry-learnt.ts), and at the end
 * of the grace.
 */

/** Of one body, shown at once. */
export const FIRST_IDS = 10;
/** Of one body, and all its looks: shows of ids that the provider denies. */
export const BODY_MISSES_MAX = 10;
/** Of one sender within an hour, unless they are hits. */
export const SENDER_SHOWS_PER_HOUR = 300;
/** How long a hit speaks for its sender. */
export const HIT_TTL_MS = 3_600_000;
/** Beyond the first, of one body. The first are asked for six times a minute at most: together below 100 requests. */
export const KNOWN_SHOWS_PER_MINUTE = 10;

const MINUTE_MS = 60_000;

/** An item, and what is known of it and of who sent it. */
export type ShowCandidate = {
  position: number;
  misses: number;
  granted: boolean;
  receivedAt: Date;
  lookedAt: Date | null;
  /** How many items its body has. */
  itemsInWebhook: number;
  /** Whether a look at what the ledger does not know sends a request: an extra is looked up in the ledger alone. */
  asksProvider: boolean;
  /** Whether the ledger holds what it names. */
  isKnown: boolean;
  /** Whether its sender had a hit within HIT_MS. */
  hadHit: boolean;
  /** Misses of all items of its body. */
  bodyMisses: number;
};

export type ShowPlan =
  | { kind: 'show' }
  /** A show, where its sender can still pay for one. */
  | { kind: 'charge' }
  /** No show now; before `notBefore` none at all. */
  | { kind: 'list'; notBefore: Date | undefined };

/** Whether a first show goes at once, whatever else is known of it. */
export function isFirstShow(one: Pick<ShowCandidate, 'position' | 'misses'>): boolean {
  return one.position < FIRST_IDS && one.misses === 0;
}

/** What one look at an item may do. Pure. */
export function planShow(one: ShowCandidate, now: Date): ShowPlan {
  if (one.granted) return { kind: 'show' };
  if (one.isKnown) return planKnown(one, now);
  if (one.position >= FIRST_IDS) return { kind: 'list', notBefore: undefined };
  if (!one.asksProvider) return { kind: 'show' };
  if (one.misses === 0) return one.hadHit ? { kind: 'show' } : { kind: 'charge' };
  return one.bodyMisses < BODY_MISSES_MAX ? { kind: 'charge' } : { kind: 'list', notBefore: undefined };
}

/** The best of what the items of one key may do: they share one look. Pure. */
export function chooseBestPlan(plans: ShowPlan[]): ShowPlan {
  const best = plans.find(({ kind }) => kind === 'show') ?? plans.find(({ kind }) => kind === 'charge');
  if (best) return best;
  const waits = plans.flatMap((plan) => (plan.kind === 'list' && plan.notBefore ? [plan.notBefore.getTime()] : []));
  return { kind: 'list', notBefore: waits.length > 0 ? new Date(Math.min(...waits)) : undefined };
}

/** By its place in the body, in the minutes that are its turn, once in each: no count has to be kept. */
function planKnown(one: ShowCandidate, now: Date): ShowPlan {
  if (one.position < FIRST_IDS) return { kind: 'show' };
  const turn = Math.floor((one.position - FIRST_IDS) / KNOWN_SHOWS_PER_MINUTE);
  const turns = Math.max(turn + 1, Math.ceil((one.itemsInWebhook - FIRST_IDS) / KNOWN_SHOWS_PER_MINUTE));
  const startOf = (round: number): number => one.receivedAt.getTime() + (1 + turn + round * turns) * MINUTE_MS;
  const round = Math.floor((now.getTime() - startOf(0)) / (turns * MINUTE_MS));
  const isTurn = round >= 0 && now.getTime() < startOf(round) + MINUTE_MS;
  const isDone = one.lookedAt !== null && one.lookedAt.getTime() >= startOf(round);
  if (isTurn && !isDone) return { kind: 'show' };
  return { kind: 'list', notBefore: new Date(startOf(Math.max(0, round + 1))) };
}
