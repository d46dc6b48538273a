const LIMIT_START = 8;
const LIMIT_MAX = 32;
/** In flight over all merchants; one that has fewer than its first few is let in all the same. */
const IN_FLIGHT_MAX = 1_000;
const FIRST_FEW = 4;
/** Claimed and not yet recorded: a database that is slow to take outcomes gets no more of them. */
const CLAIMED_MAX = 3_000;
/** The longest that a merchant's Retry-After keeps its other callbacks waiting too. */
const PAUSE_MS_MAX = 60_000;

/**
 * How much one merchant takes at once, in this process. It starts small and grows with each success (which doubles it
 * every round trip); an answer that asks for less halves it. So a merchant that comes back is not run over, and one
 * that hangs soon occupies a single place. Many slow ones together can't use up what others need: whoever has less than
 * a few in flight always finds a place.
 */
export type MerchantLimit = {
  limit: number;
  inFlight: number;
  pausedUntil: number;
  /** It was filled up: there may be more to claim as soon as a place is free. */
  mayHaveMore: boolean;
};

export type Slots = {
  limits: Map<number, MerchantLimit>;
  inFlight: Set<number>;
  claimed: Set<number>;
  /** Leased to go after another of its transaction: it waits for no place of its own, and takes none from anybody. */
  successors: Set<number>;
};

export type LeasedSet = Pick<ReadonlySet<number>, 'has'>;

type Taken = { seq: number; merchantSeq: number };

export function createSlots(): Slots {
  return { limits: new Map(), inFlight: new Set(), claimed: new Set(), successors: new Set() };
}

/** What this process holds and has not recorded yet. */
export function listLeased({ claimed, successors: following }: Slots): LeasedSet {
  return { has: (seq) => claimed.has(seq) || following.has(seq) };
}

export function limitOf(places: Slots, merchantSeq: number): MerchantLimit {
  const known = places.limits.get(merchantSeq);
  if (known) return known;
  const lane: MerchantLimit = { limit: LIMIT_START, inFlight: 0, pausedUntil: 0, mayHaveMore: false };
  places.limits.set(merchantSeq, lane);
  return lane;
}

/** How many more of each merchant may be claimed now, in the order given. */
export function shareSlots(places: Slots, merchantSeqs: number[], nowMs: number): Map<number, number> {
  const shares = new Map<number, number>();
  if (places.claimed.size >= CLAIMED_MAX) return shares;
  let left = Math.max(0, IN_FLIGHT_MAX - places.inFlight.size);
  for (const seq of merchantSeqs) {
    const lane = limitOf(places, seq);
    if (nowMs < lane.pausedUntil) continue;
    const free = Math.max(0, lane.limit - lane.inFlight);
    const share = Math.min(free, Math.max(left, FIRST_FEW - lane.inFlight));
    left = Math.max(0, left - share);
    // until the claim tells: an answer that comes meanwhile rings
    lane.mayHaveMore = true;
    if (share > 0) shares.set(seq, share);
  }
  return shares;
}

export function takeSlot(places: Slots, callback: Taken): void {
  places.claimed.add(callback.seq);
  places.inFlight.add(callback.seq);
  limitOf(places, callback.merchantSeq).inFlight++;
}

/** Whether a merchant that has just answered may take another in the same place: it asked for no pause, nor for less. */
export function mayPassSlot(places: Slots, { merchantSeq }: Taken, nowMs: number): boolean {
  const lane = limitOf(places, merchantSeq);
  return nowMs >= lane.pausedUntil && lane.inFlight <= lane.limit;
}

/** The next of its transaction goes at once, in the place of the one that is delivered. */
export function passSlot(places: Slots, from: Taken, to: Taken): void {
  places.successors.delete(to.seq);
  places.claimed.add(to.seq);
  places.inFlight.delete(from.seq);
  places.inFlight.add(to.seq);
}

/** Its answer is here: the next may go, though it is recorded only later. @returns whether the next may be waiting. */
export function releaseSlot(places: Slots, callback: Taken): boolean {
  if (!places.inFlight.delete(callback.seq)) return false;
  const lane = limitOf(places, callback.merchantSeq);
  lane.inFlight--;
  const mayHaveMore = lane.mayHaveMore;
  lane.mayHaveMore = false;
  return mayHaveMore;
}

/** It is recorded, or was never sent. @returns whether the next may be waiting for its place. */
export function untrackCallback(places: Slots, callback: Taken): boolean {
  const mayHaveMore = releaseSlot(places, callback);
  places.claimed.delete(callback.seq);
  places.successors.delete(callback.seq);
  return mayHaveMore;
}

export function adaptLimit(
  lane: MerchantLimit,
  result: { delivered: boolean; asksForLess: boolean; retryAfterMs: number | undefined },
  nowMs: number,
): void {
  if (result.asksForLess) {
    lane.limit = Math.max(1, Math.floor(lane.limit / 2));
    if (result.retryAfterMs) lane.pausedUntil = nowMs + Math.min(result.retryAfterMs, PAUSE_MS_MAX);
  } else if (result.delivered) {
    lane.limit = Math.min(LIMIT_MAX, lane.limit + 1);
  }
}
