import { setTimeout as sleep } from 'node:timers/promises';

/** The clock and timers of a sandbox. A test passes timers that it can advance. */
export type Timers = {
  /** The wall clock, in ms since 1970. */
  now(): number;
  /** Resolves after `ms`. @throws AbortError on the signal. */
  sleep(ms: number, options: { signal: AbortSignal }): Promise<void>;
  /** Calls `run` once after `ms`. */
  after(ms: number, run: () => void): { cancel(): void };
};

export const MACHINE_TIMERS: Timers = {
  now: () => Date.now(),
  sleep: (ms, options) => sleep(ms, undefined, options),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};
