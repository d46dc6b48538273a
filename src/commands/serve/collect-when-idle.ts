import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** How often serve checks whether it has time for a collection, and something to collect. */
const CHECK_EVERY_MS = 10_000;
/** The least time between two collections: at 25 webhooks a second, 64 MiB pile up again within a minute. */
const COLLECT_EVERY_MS = 10 * 60_000;
/** The share of a time for which the thread of an idle process is busy, at most. */
const IDLE_SHARE_MAX = 0.1;
/** How much more than after the last collection may be in use: a full nursery, and 16 MiB. */
const UNCOLLECTED_BYTES_MAX = 64 * 1024 * 1024;

/** Facts that decide on a collection: the share of the time since the last call that the thread was busy, and the heap. */
export type Engine = { busyShare(): number; usedBytes(): number; nowMs(): number; collect(): void };

/**
 * Frees what the start took, 60 MiB, and later what has piled up, whenever the process has little to do: a collection takes
 * 0.1 to 0.3 s, in which nothing is answered. Under load Node collects by itself, rarely, since bin/confere lets the heap
 * grow: it passes --expose-gc too.
 */
export function collectWhenIdle(engine: Engine = openEngine()): void {
  let allowedBytes = 0;
  let collectedAtMs = Number.NEGATIVE_INFINITY;
  setInterval(() => {
    const isIdle = engine.busyShare() <= IDLE_SHARE_MAX;
    const isDue = engine.nowMs() - collectedAtMs >= COLLECT_EVERY_MS;
    if (!isIdle || !isDue || engine.usedBytes() < allowedBytes) return;
    engine.collect();
    allowedBytes = engine.usedBytes() + UNCOLLECTED_BYTES_MAX;
    collectedAtMs = engine.nowMs();
  }, CHECK_EVERY_MS).unref();
}

function openEngine(): Engine {
  let since = performance.eventLoopUtilization();
  return {
    busyShare() {
      const until = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(until, since);
      since = until;
      return utilization;
    },
    usedBytes: () => getHeapStatistics().used_heap_size,
    nowMs: () => performance.now(),
    collect: () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  };
}
