import type { Sandbox } from './context.ts';

const PAUSE_AFTER_ERROR_MS = 1_000;

/**
 * Runs `work` again and again until the sandbox ends: at once while it answers true (there is more), else after
 * `everyMs` or when woken. An error is logged and waited out: a database away for a moment must not end a loop.
 * `offerWake` is handed the function that wakes it.
 */
export async function runLoop(
  sandbox: Sandbox,
  everyMs: number,
  offerWake: (wake: () => void) => void,
  work: () => Promise<boolean>,
): Promise<void> {
  const { signal, timers } = sandbox;
  let awake = true;
  let rouse: () => void = () => undefined;
  offerWake(() => {
    awake = true;
    rouse();
  });
  signal.addEventListener('abort', () => rouse(), { once: true });
  while (!signal.aborted) {
    awake = false;
    let pauseMs = everyMs;
    try {
      if (await work()) continue;
    } catch (error) {
      if (signal.aborted) return;
      sandbox.log(`will try again: ${error instanceof Error ? error.message : String(error)}`);
      pauseMs = PAUSE_AFTER_ERROR_MS;
    }
    if (awake || signal.aborted) continue;
    await new Promise<void>((resolve) => {
      const timer = timers.after(pauseMs, resolve);
      rouse = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}
