const JITTER = 0.2;
/** Upper bound on a merchant's Retry-After: a wrong one must not delay a payment for a year. */
export const RETRY_AFTER_MS_MAX = 3_600_000;

/**
 * How long to wait after a failed attempt: the schedule's step ±20 %, and at least the merchant's Retry-After.
 * @param step how many steps of the schedule were used before this failure.
 * @param random from 0 to 1.
 * @returns undefined when the schedule is used up.
 */
export function nextDelayMs(
  schedule: number[],
  step: number,
  options: { random: number; retryAfterMs: number | undefined },
): number | undefined {
  const base = schedule[step];
  if (base === undefined) return undefined;
  const jittered = Math.round(base * (1 - JITTER + 2 * JITTER * options.random));
  return Math.max(jittered, Math.min(options.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX));
}
