/** Deeper JSON is rejected, or handled as plain text. */
export const DEPTH_MAX = 32;

/** Stops at the limit: a body of 100,000 brackets must not exhaust the stack. */
export function isDeeperThan(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null && isDeeperThan(child, levels - 1)) return true;
  }
  return false;
}
