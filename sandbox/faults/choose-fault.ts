import type { Random } from '../domain/random.ts';
import type { Fault } from './fault.ts';

/** How often each fault was passed and met, by its place in the list; start with an empty map at each new list. */
export type FaultTallies = Map<number, { passed: number; met: number; left: number }>;

/** The fault that a request to a route meets, the first of the list that strikes; undefined where none does. */
export function chooseFault(
  faults: readonly Fault[],
  tallies: FaultTallies,
  route: string,
  random: Random,
): Fault | undefined {
  for (const [i, fault] of faults.entries()) {
    if (fault.on !== 'any' && fault.on !== route) continue;
    let tally = tallies.get(i);
    if (tally === undefined) {
      tally = { passed: 0, met: 0, left: 0 };
      tallies.set(i, tally);
    }
    tally.passed += 1;
    if (tally.passed <= fault.after || (fault.times !== null && tally.met >= fault.times)) continue;
    if (tally.left === 0 && random.chance(fault.share)) tally.left = fault.burst;
    if (tally.left === 0) continue;
    tally.left -= 1;
    tally.met += 1;
    return fault;
  }
  return undefined;
}
