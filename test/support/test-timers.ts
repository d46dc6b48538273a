import { setTimeout as sleep } from 'node:timers/promises';
import type { Timers } from '../../src/timers.ts';

/** Timers that follow the machine's clock until they are frozen, and can be advanced. */
export type TestTimers = Timers & {
  /** Advances the clocks by `ms` and runs the timers that are due by then. Resolves when these have begun. */
  advance(ms: number): Promise<void>;
  /** From now on only `advance` moves time, so that no time-out fires during a test on a slow machine. */
  freeze(): void;
};

type Due = { atMs: number; everyMs: number | undefined; run: () => void; timer: NodeJS.Timeout };

/** Time for woken timers to begin, in ms; on an idle machine one turn of the event loop is enough. */
const SETTLE_MS = 5;

export function createTestTimers(): TestTimers {
  let skippedMs = 0;
  const pending = new Set<Due>();
  let frozen: { elapsedMs: number; nowMs: number } | undefined;
  const elapsed = (): number => (frozen?.elapsedMs ?? performance.now()) + skippedMs;

  function arm(due: Due): void {
    clearTimeout(due.timer);
    if (frozen && due.atMs > elapsed()) return;
    due.timer = setTimeout(() => fire(due), Math.max(0, due.atMs - elapsed()));
    due.timer.unref();
  }

  function fire(due: Due): void {
    if (!pending.has(due)) return;
    if (due.everyMs === undefined) pending.delete(due);
    else due.atMs = elapsed() + due.everyMs;
    if (due.everyMs !== undefined) arm(due);
    due.run();
  }

  function add(ms: number, run: () => void, everyMs?: number): Due {
    const due: Due = { atMs: elapsed() + ms, everyMs, run, timer: setTimeout(() => undefined, 0) };
    pending.add(due);
    arm(due);
    return due;
  }

  function cancel(due: Due): void {
    clearTimeout(due.timer);
    pending.delete(due);
  }

  return {
    now: () => (frozen?.nowMs ?? Date.now()) + skippedMs,
    monotonicMs: elapsed,
    sleep: (ms, options = {}) =>
      new Promise((resolve, reject) => {
        const { signal, ref = true } = options;
        const stop = (): void => {
          cancel(due);
          reject(signal?.reason);
        };
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const due = add(ms, () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        });
        if (ref) due.timer.ref();
        signal?.addEventListener('abort', stop, { once: true });
      }),
    after: (ms, run) => {
      const due = add(ms, run);
      return { cancel: () => cancel(due) };
    },
    every: (ms, run) => {
      const due = add(ms, run, ms);
      return { cancel: () => cancel(due) };
    },
    async advance(ms) {
      skippedMs += ms;
      for (const due of [...pending]) arm(due);
      await sleep(SETTLE_MS);
    },
    freeze() {
      // a whole number, so that the sum of two spans is exact
      frozen ??= { elapsedMs: Math.ceil(performance.now()), nowMs: Date.now() };
      for (const due of pending) arm(due);
    },
  };
}
