import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Time as a process knows it. A context carries one set of timers; a test opens its context with timers that it can
 * advance, so grace periods, leases, back-off and idle waits pass at once.
 */
export type Timers = {
  /** The machine's wall clock, in ms since 1970. */
  now(): number;
  /** A clock that is never set back, in ms; only differences mean something. */
  monotonicMs(): number;
  /** Resolves after `ms`. @param options.ref false: does not keep the process alive. @throws AbortError on the signal. */
  sleep(ms: number, options?: { signal?: AbortSignal; ref?: boolean }): Promise<void>;
  /** Calls `run` once after `ms`, without keeping the process alive. */
  after(ms: number, run: () => void): Timer;
  /** Calls `run` every `ms`, without keeping the process alive. */
  every(ms: number, run: () => void): Timer;
};

export type Timer = { cancel(): void };

export const SYSTEM_TIMERS: Timers = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, options) => sleep(ms, undefined, options),
  after: (ms, run) => {
    const timer = setTimeout(run, ms).unref();
    return { cancel: () => clearTimeout(timer) };
  },
  every: (ms, run) => {
    const timer = setInterval(run, ms).unref();
    return { cancel: () => clearInterval(timer) };
  },
};

/** The pause before a retry, in ms: doubled with each failure in a row after the first, up to `maxMs`. */
export function backoffMs(failures: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }): number {
  return Math.min(maxMs, firstMs * 2 ** (failures - 1));
}

/** Shortens the pause at random by up to half: those that failed together retry apart. */
export function randomBackoffMs(...[failures, limits]: Parameters<typeof backoffMs>): number {
  return (backoffMs(failures, limits) * (1 + Math.random())) / 2;
}
