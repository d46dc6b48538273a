/** How much may come at once: as much as fits between two looks. */
const BURST_MS = 250;
const SECOND_MS = 1000;

/**
 * Keeps callbacks under a merchant's rate, whichever process sends them: each one granted moves the instant of the next
 * by its share of a second.
 * @param nextAt until when the rate is spent.
 */
export function takeTokens(
  ratePerSecond: number,
  nextAt: Date | null,
  now: Date,
  wanted: number,
): { count: number; nextAt: Date } {
  const eachMs = SECOND_MS / ratePerSecond;
  const startMs = Math.max(nextAt?.getTime() ?? 0, now.getTime() - BURST_MS);
  const leftMs = now.getTime() - startMs;
  const count = leftMs < 0 ? 0 : Math.min(wanted, Math.floor(leftMs / eachMs) + 1);
  return { count, nextAt: new Date(startMs + Math.ceil(count * eachMs)) };
}
