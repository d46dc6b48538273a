/** Nothing that we take in is deeper; what is, is no more than a text to us. */
export const DEPTH_MAX = 32;

/** Goes down no further than it has to: a body made of 100,000 brackets must not exhaust the stack. */
export function isDeeperThan(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null && isDeeperThan(child, levels - 1)) return true;
  }
  return false;
}
