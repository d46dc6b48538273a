const LIMIT_START = 8;
const LIMIT_MAX = 32;
/** The longest that a merchant's Retry-After keeps its other callbacks waiting too. */
const PAUSE_MS_MAX = 60_000;

/**
 * How much one merchant takes at once, in this process. It starts small and grows with each success (which doubles it
 * every round trip); an answer that asks for less halves it. So a merchant that comes back is not run over, and one
 * that hangs soon occupies a single place.
 */
export type Lane = { limit: number; inFlight: number; pausedUntil: number };

export function createLane(): Lane {
  return { limit: LIMIT_START, inFlight: 0, pausedUntil: 0 };
}

/** How many more may be sent now. */
export function freePlaces(lane: Lane, nowMs: number): number {
  return nowMs < lane.pausedUntil ? 0 : Math.max(0, lane.limit - lane.inFlight);
}

export function adaptLane(
  lane: Lane,
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
