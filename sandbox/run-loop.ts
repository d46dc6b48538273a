import type { Sandbox } from './context.ts';

const PAUSE_AFTER_ERROR_MS = 1_000;

/**
 * Repeats `work` until the sandbox ends: at once while it returns true (there is more), else after `everyMs` or when woken.
 * After an error it logs and retries, because a database that is away for a moment must not end the loop. `offerWake`
 * receives the function that wakes the loop.
 */
export async function runLoop(
  sandbox: Sandbox,
  everyMs: number,
  offerWake: (wake: () => void) => void,
  work: () => Promise<boolean>,
): Promise<void> {
  const { signal, timers } = sandbox;
  let awake = true;
  let wakeUp: () => void = () => undefined;
  offerWake(() => {
    awake = true;
    wakeUp();
  });
  signal.addEventListener('abort', () => wakeUp(), { once: true });
  while (!signal.aborted) {
    awake = false;
    let pauseMs = everyMs;
    try {
      if (await work()) continue;
    } catch (error) {
      if (signal.aborted) return;
      sandbox.log(`a loop failed and is retried: ${error instanceof Error ? error.message : String(error)}`);
      pauseMs = PAUSE_AFTER_ERROR_MS;
    }
    if (awake || signal.aborted) continue;
    await new Promise<void>((resolve) => {
      const timer = timers.after(pauseMs, resolve);
      wakeUp = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}
