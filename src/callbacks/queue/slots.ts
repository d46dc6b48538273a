const LIMIT_START = 8;
const LIMIT_MAX = 32;
/** In flight over all merchants. A merchant with fewer than RESERVED_SLOTS in flight may exceed it. */
export const IN_FLIGHT_MAX = 1_000;
const RESERVED_SLOTS = 4;
/** Callbacks of a backfill that one claim takes for a merchant: each costs the others time of the processor (bench/callbacks.ts). */
const IDLE_SLOTS_MAX = 2;
/** Claimed and not yet recorded. Bounds the backlog of a database that is slow to record outcomes. */
const CLAIMED_MAX = 3_000;
/** Upper bound on how long a Retry-After also pauses the merchant's other callbacks. */
const PAUSE_MS_MAX = 60_000;

/**
 * Adaptive concurrency limit of one merchant in this process. It starts small and grows by 1 with each success, so it
 * doubles every round trip; an answer that signals overload halves it. So a merchant that recovers is not flooded, and
 * one that hangs soon occupies a single slot. RESERVED_SLOTS keeps many slow merchants from starving the others.
 */
export type MerchantLimit = {
  limit: number;
  inFlight: number;
  pausedUntil: number;
  /** The last claim filled all its slots: there may be more to claim as soon as one is free. */
  mayHaveMore: boolean;
  /**
   * More callbacks wait than slots are free: the last claim found it, or a callback found no slot. Until a later claim
   * finds less, no new callback takes a slot before those that wait.
   */
  isSaturated: boolean;
};

export type Slots = {
  limits: Map<number, MerchantLimit>;
  inFlight: Set<number>;
  /** Slots kept for callbacks that a transaction is claiming. The limit of their merchant counts them already. */
  reserved: number;
  claimed: Set<number>;
  /** Leased as successors of another callback. They use the slot of their predecessor. */
  successors: Set<number>;
};

export type LeasedSet = Pick<ReadonlySet<number>, 'has'>;

type Taken = { seq: number; merchantSeq: number };

export function createSlots(): Slots {
  return { limits: new Map(), inFlight: new Set(), reserved: 0, claimed: new Set(), successors: new Set() };
}

/** Returns the callbacks that this process has leased and not recorded yet. */
export function listLeased({ claimed, successors }: Slots): LeasedSet {
  return { has: (seq) => claimed.has(seq) || successors.has(seq) };
}

export function limitOf(slots: Slots, merchantSeq: number): MerchantLimit {
  const known = slots.limits.get(merchantSeq);
  if (known) return known;
  const merchant: MerchantLimit = {
    limit: LIMIT_START,
    inFlight: 0,
    pausedUntil: 0,
    mayHaveMore: false,
    isSaturated: false,
  };
  slots.limits.set(merchantSeq, merchant);
  return merchant;
}

/** @returns how many more callbacks of each merchant may be claimed now; earlier merchants are served first. */
export function shareSlots(slots: Slots, merchantSeqs: number[], nowMs: number): Map<number, number> {
  const shares = new Map<number, number>();
  if (slots.claimed.size + slots.reserved >= CLAIMED_MAX) return shares;
  let left = Math.max(0, IN_FLIGHT_MAX - slots.inFlight.size - slots.reserved);
  for (const seq of merchantSeqs) {
    const merchant = limitOf(slots, seq);
    if (nowMs < merchant.pausedUntil) continue;
    const free = Math.max(0, merchant.limit - merchant.inFlight);
    const share = Math.min(free, Math.max(left, RESERVED_SLOTS - merchant.inFlight));
    left = Math.max(0, left - share);
    // until the claim corrects it: an answer that arrives meanwhile must wake the loop
    merchant.mayHaveMore = true;
    if (share > 0) shares.set(seq, share);
  }
  return shares;
}

/**
 * How many of a merchant's free slots callbacks of a backfill may use: half of its limit stays free for the others, and
 * half of all slots.
 */
export function limitIdle(slots: Slots, merchantSeq: number, free: number): number {
  if (slots.inFlight.size >= IN_FLIGHT_MAX / 2) return 0;
  return Math.min(IDLE_SLOTS_MAX, Math.max(0, free - Math.floor(limitOf(slots, merchantSeq).limit / 2)));
}

/** Reserves a slot for a callback that a transaction is about to write. @returns false: none is free, or others wait. */
export function reserveForNew(slots: Slots, merchantSeq: number, nowMs: number): boolean {
  const merchant = limitOf(slots, merchantSeq);
  const { inFlight, claimed, reserved } = slots;
  const isFull = inFlight.size + reserved >= IN_FLIGHT_MAX || claimed.size + reserved >= CLAIMED_MAX;
  if (isFull || merchant.isSaturated || nowMs < merchant.pausedUntil) return false;
  merchant.isSaturated = !reserveSlot(slots, merchantSeq);
  return !merchant.isSaturated;
}

/** Reserves a slot of a merchant's limit. @returns false: none is free. */
export function reserveSlot(slots: Slots, merchantSeq: number): boolean {
  const merchant = limitOf(slots, merchantSeq);
  if (merchant.inFlight >= merchant.limit) return false;
  merchant.inFlight++;
  slots.reserved++;
  return true;
}

/** Gives a reserved slot back. */
export function giveSlotBack(slots: Slots, merchantSeq: number): void {
  limitOf(slots, merchantSeq).inFlight--;
  slots.reserved--;
}

export function takeSlot(slots: Slots, callback: Taken): void {
  slots.claimed.add(callback.seq);
  slots.inFlight.add(callback.seq);
  limitOf(slots, callback.merchantSeq).inFlight++;
}

/** Whether the next callback may use the slot that has just been answered: no pause, and not above the limit. */
export function mayPassSlot(slots: Slots, { merchantSeq }: Taken, nowMs: number): boolean {
  const merchant = limitOf(slots, merchantSeq);
  return nowMs >= merchant.pausedUntil && merchant.inFlight <= merchant.limit;
}

/** The successor takes the slot of the callback that was delivered. */
export function passSlot(slots: Slots, from: Taken, to: Taken): void {
  slots.successors.delete(to.seq);
  slots.claimed.add(to.seq);
  slots.inFlight.delete(from.seq);
  slots.inFlight.add(to.seq);
}

/** Frees the slot when the answer arrives, before it is recorded. @returns whether more may be waiting for it. */
export function releaseSlot(slots: Slots, callback: Taken): boolean {
  if (!slots.inFlight.delete(callback.seq)) return false;
  const merchant = limitOf(slots, callback.merchantSeq);
  merchant.inFlight--;
  const mayHaveMore = merchant.mayHaveMore;
  merchant.mayHaveMore = false;
  return mayHaveMore;
}

/** Forgets a callback that is recorded, or was never sent. @returns whether more may be waiting for its slot. */
export function untrackCallback(slots: Slots, callback: Taken): boolean {
  const mayHaveMore = releaseSlot(slots, callback);
  slots.claimed.delete(callback.seq);
  slots.successors.delete(callback.seq);
  return mayHaveMore;
}

export function adaptLimit(
  merchant: MerchantLimit,
  result: { delivered: boolean; asksForLess: boolean; retryAfterMs: number | undefined },
  nowMs: number,
): void {
  if (result.asksForLess) {
    merchant.limit = Math.max(1, Math.floor(merchant.limit / 2));
    if (result.retryAfterMs) merchant.pausedUntil = nowMs + Math.min(result.retryAfterMs, PAUSE_MS_MAX);
  } else if (result.delivered) {
    merchant.limit = Math.min(LIMIT_MAX, merchant.limit + 1);
  }
}
