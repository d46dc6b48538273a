/** After each look that does not yet show what was claimed, the next one: a webhook can be ahead of the provider. */
const LOOK_AGAIN_MS = [1_000, 3_000, 10_000, 30_000, 120_000, 300_000];

/** Once the grace is over: a contradiction is told within a minute of it, though a slow answer cost a look before. */
const LATE_PAUSE_MS_MAX = 30_000;

/**
 * When to look again. Pure.
 * @param looks how many looks there were.
 * @param graceMs counted from `receivedAt`, it ends when the claim counts as one that does not come true: the last look is
 * made then, not before. One that could only be looked at late, after an outage, gets as many looks all the same, in quick
 * succession.
 * @returns undefined when this was the last look.
 */
export function scheduleFetch(looks: number, now: Date, receivedAt: Date, graceMs: number): Date | undefined {
  const deadlineMs = receivedAt.getTime() + graceMs;
  const pauseMs = pauseAfter(looks);
  if (now.getTime() < deadlineMs) return new Date(Math.min(now.getTime() + pauseMs, deadlineMs));
  return looks >= countLooks(graceMs) ? undefined : new Date(now.getTime() + Math.min(pauseMs, LATE_PAUSE_MS_MAX));
}

function pauseAfter(looks: number): number {
  return LOOK_AGAIN_MS[Math.min(looks, LOOK_AGAIN_MS.length) - 1] ?? LOOK_AGAIN_MS[0] ?? 0;
}

/** How many looks there are within a grace, the first at its start and the last at its end. */
function countLooks(graceMs: number): number {
  let looks = 1;
  for (let atMs = 0; atMs < graceMs; looks++) atMs += pauseAfter(looks);
  return looks;
}
