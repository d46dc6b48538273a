import { describeError, type Log } from '../log.ts';
import type { Timers } from '../timers.ts';

const FAILURE_PAUSE_MS = 1_000;
const FAILURE_PAUSE_MAX_MS = 15_000;

/** Tells a loop of the same process that there is something to do, so that it need not wait for its next look. */
export type WakeSignal = { notify(): void; wait(ms: number, signal: AbortSignal): Promise<void> };

export function createWakeSignal(timers: Timers): WakeSignal {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    notify() {
      rung = true;
      wake?.();
    },
    async wait(ms, signal) {
      if (!rung && !signal.aborted) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const timer = new AbortController();
        const stop = (): void => timer.abort();
        signal.addEventListener('abort', stop, { once: true });
        await Promise.race([woken, timers.sleep(ms, { signal: timer.signal }).catch(() => undefined)]);
        signal.removeEventListener('abort', stop);
        timer.abort();
      }
      rung = false;
      wake = undefined;
    },
  };
}

/** How long to wait, in ms, after so many failures in a row. */
export function failureBackoffMs(failures: number): number {
  return Math.min(FAILURE_PAUSE_MAX_MS, FAILURE_PAUSE_MS * 2 ** Math.min(failures - 1, 4));
}

/**
 * Calls `work` until the signal. `work` returns whether there may be more at once; else the loop waits for its bell or
 * `idleMs`. A failure is logged and tried again after a pause that grows: a loop never ends by itself.
 */
export async function runWorkerLoop(options: {
  name: string;
  work: () => Promise<boolean>;
  wakeUp: WakeSignal;
  idleMs: number;
  context: { log: Log; timers: Timers; signal: AbortSignal };
}): Promise<void> {
  const { log, timers, signal } = options.context;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const more = await options.work();
      failures = 0;
      if (!more) await options.wakeUp.wait(options.idleMs, signal);
    } catch (error) {
      failures++;
      log.error({ error: describeError(error), loop: options.name, failures }, 'a loop failed; it goes on');
      await timers.sleep(failureBackoffMs(failures), { signal }).catch(() => undefined);
    }
  }
}
