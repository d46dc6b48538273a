import type { Timers } from '../timers.ts';

/** After writes succeed again, what other processes write meanwhile may still be missing. */
const SETTLE_MS = 60_000;

/** Whether the database takes this process's writes. Each process probes it (jobs/watch-writes.ts). */
export type WriteState = {
  record(outcome: { failed: false } | { failed: true; at: Date }): void;
  /** Since when writes fail; undefined while they succeed. */
  failingSince(): Date | undefined;
  /** Whether writes have succeeded for a minute: until then nobody's silence says anything. */
  isSettled(): boolean;
};

export function createWriteState(timers: Timers): WriteState {
  let failingSince: Date | undefined;
  let succeedsSinceMs = Number.NEGATIVE_INFINITY;
  return {
    record(outcome) {
      if (outcome.failed) failingSince ??= outcome.at;
      else if (failingSince) {
        failingSince = undefined;
        succeedsSinceMs = timers.monotonicMs();
      }
    },
    failingSince: () => failingSince,
    isSettled: () => failingSince === undefined && timers.monotonicMs() - succeedsSinceMs >= SETTLE_MS,
  };
}
