import type { Random } from '../domain/random.ts';
import type { Fault } from './fault.ts';

/** Counters of each fault by its index in the list. A new list starts with an empty map. */
export type FaultTallies = Map<number, Tally>;

/** `passed`: requests seen. `met`: requests that got the fault. `recentMs`: times of the requests that a rate limit counts. */
type Tally = { passed: number; met: number; left: number; recentMs: number[] };

/** Returns the first fault of the list that applies to a request of a route, or undefined. */
export function chooseFault(
  faults: readonly Fault[],
  tallies: FaultTallies,
  route: string,
  random: Random,
  nowMs: number,
): Fault | undefined {
  for (const [i, fault] of faults.entries()) {
    if (fault.on !== 'any' && fault.on !== route) continue;
    let tally = tallies.get(i);
    if (tally === undefined) {
      tally = { passed: 0, met: 0, left: 0, recentMs: [] };
      tallies.set(i, tally);
    }
    tally.passed += 1;
    if (tally.passed <= fault.after || (fault.times !== null && tally.met >= fault.times)) continue;
    if (fault.kind === 'rate_limit' && !isOverLimit(fault, tally, nowMs)) continue;
    if (tally.left === 0 && random.chance(fault.share)) tally.left = fault.burst;
    if (tally.left === 0) continue;
    tally.left -= 1;
    tally.met += 1;
    return fault;
  }
  return undefined;
}

/** Counts a request unless it is over the limit: refused requests do not count. */
function isOverLimit(fault: Extract<Fault, { kind: 'rate_limit' }>, tally: Tally, nowMs: number): boolean {
  tally.recentMs = tally.recentMs.filter((atMs) => nowMs - atMs < fault.per_s * 1_000);
  if (tally.recentMs.length >= fault.requests) return true;
  tally.recentMs.push(nowMs);
  return false;
}
