/** After each look that does not yet show what was claimed, the next one: a webhook can be ahead of the provider. */
const LOOK_AGAIN_MS = [1_000, 3_000, 10_000, 30_000, 120_000, 300_000];

/**
 * When to look again. Pure.
 * @param looks how many looks there were.
 * @param deadline when the claim counts as one that does not come true: the last look is made then, not before.
 * @returns undefined when the deadline has passed: this was the last look.
 */
export function scheduleLook(looks: number, now: Date, deadline: Date): Date | undefined {
  if (now >= deadline) return undefined;
  const pause = LOOK_AGAIN_MS[Math.min(looks, LOOK_AGAIN_MS.length) - 1] ?? LOOK_AGAIN_MS[0] ?? 0;
  return new Date(Math.min(now.getTime() + pause, deadline.getTime()));
}
