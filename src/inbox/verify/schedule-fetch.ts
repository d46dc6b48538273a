/** Pause after each fetch that does not show the claim yet: a webhook can be ahead of the provider's own reads. */
const PAUSES_MS = [1_000, 3_000, 10_000, 30_000, 120_000, 300_000];

/** Longest pause after the grace: a contradiction is reported within a minute, even if a slow answer cost a fetch. */
const LATE_PAUSE_MS_MAX = 30_000;

/**
 * When to fetch next. Pure.
 * @param fetches how many fetches were made.
 * @param graceMs counted from `receivedAt`. At its end the claim counts as not come true: the last fetch is made then, not
 *   before. An item whose first fetch was late, after an outage, gets the same number of fetches, in quick
 *   succession, also beyond the grace.
 * @returns undefined when this was the last fetch.
 */
export function scheduleFetch(fetches: number, now: Date, receivedAt: Date, graceMs: number): Date | undefined {
  const deadlineMs = receivedAt.getTime() + graceMs;
  const pauseMs = pauseAfter(fetches);
  if (now.getTime() < deadlineMs) return new Date(Math.min(now.getTime() + pauseMs, deadlineMs));
  return fetches >= countFetches(graceMs) ? undefined : new Date(now.getTime() + Math.min(pauseMs, LATE_PAUSE_MS_MAX));
}

function pauseAfter(fetches: number): number {
  return PAUSES_MS[Math.min(fetches, PAUSES_MS.length) - 1] ?? PAUSES_MS[0] ?? 0;
}

/** How many fetches a grace holds, the first at its start and the last at its end. */
function countFetches(graceMs: number): number {
  let fetches = 1;
  for (let atMs = 0; atMs < graceMs; fetches++) atMs += pauseAfter(fetches);
  return fetches;
}
