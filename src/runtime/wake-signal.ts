import { describeError, type Log } from '../log.ts';
import { backoffMs, type Timers } from '../timers.ts';

/** How long a loop waits after failures. */
export const LOOP_BACKOFF = { firstMs: 1_000, maxMs: 15_000 };

/** Wakes a worker loop of the same process before its idle wait ends. A notification between two waits is kept. */
export type WakeSignal = {
  notify(): void;
  /** Waits for a notification, at most `ms`. @returns whether it was notified. */
  wait(ms: number, signal: AbortSignal): Promise<boolean>;
};

export function createWakeSignal(timers: Timers): WakeSignal {
  let isNotified = false;
  let wake: (() => void) | undefined;
  return {
    notify() {
      isNotified = true;
      wake?.();
    },
    async wait(ms, signal) {
      if (!isNotified && !signal.aborted) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const timer = new AbortController();
        // with a reason of its own: the default one is an error with its stack, at each wait
        const stop = (): void => timer.abort('over');
        signal.addEventListener('abort', stop, { once: true });
        await Promise.race([woken, timers.sleep(ms, { signal: timer.signal }).catch(() => undefined)]);
        signal.removeEventListener('abort', stop);
        stop();
      }
      const wasNotified = isNotified;
      isNotified = false;
      wake = undefined;
      return wasNotified;
    },
  };
}

/**
 * Calls `work` until the signal. `work` returns whether there may be more to do at once; if not, the loop waits for
 * `wakeUp`, at most `idleMs`. A wait that ends without a notification calls `work` only if `hasWork` says so. Such waits end
 * at multiples of `idleMs`, so that the loops of a process ask together (poll.ts). After a failure it logs an error and waits
 * by LOOP_BACKOFF. It ends only by the signal.
 */
export async function runWorkerLoop(options: {
  name: string;
  work: () => Promise<boolean>;
  /** One read without locks: whether `work` would find anything, from another process or by the time. By default it may. */
  hasWork?: () => Promise<boolean>;
  wakeUp: WakeSignal;
  idleMs: number | (() => number);
  /** Called after each round that did not fail, also one without work. */
  heartbeat?: () => Promise<void>;
  context: { log: Log; timers: Timers; signal: AbortSignal };
}): Promise<void> {
  const { log, timers, signal } = options.context;
  const { work, hasWork } = options;
  const nextWaitMs = (): number => {
    const idleMs = typeof options.idleMs === 'number' ? options.idleMs : options.idleMs();
    return hasWork ? Math.ceil(idleMs - (timers.monotonicMs() % idleMs)) : idleMs;
  };
  let failures = 0;
  let isCalled = true;
  while (!signal.aborted) {
    try {
      const more: boolean = (isCalled || !hasWork || (await hasWork())) && (await work());
      await options.heartbeat?.();
      failures = 0;
      isCalled = more || (await options.wakeUp.wait(nextWaitMs(), signal));
    } catch (error) {
      failures++;
      log.error(
        { error: describeError(error), loop: options.name, failures },
        'a worker loop failed; it continues after a pause',
      );
      await timers.sleep(backoffMs(failures, LOOP_BACKOFF), { signal }).catch(() => undefined);
    }
  }
}
