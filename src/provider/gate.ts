/**
 * How many requests are under way at once: adapts to the provider. Each good answer adds a little, each sign of
 * overload (429, 5xx, a time-out) halves, at most once for the requests that were under way together.
 */
export type Gate = {
  enter(): Promise<void>;
  leave(outcome: 'good' | 'overloaded' | 'other'): void;
  /** Nobody enters before then. */
  pause(ms: number): void;
  readonly limit: number;
};

const LIMIT_START = 4;

export function createGate(limitMax: number): Gate {
  let limit = Math.min(LIMIT_START, limitMax);
  let under = 0;
  let spared = 0;
  let pausedUntil = 0;
  const waiting: (() => void)[] = [];

  function admit(): void {
    const wait = pausedUntil - Date.now();
    if (wait > 0) {
      setTimeout(admit, wait).unref();
      return;
    }
    while (waiting.length > 0 && under < Math.floor(limit)) {
      under++;
      waiting.shift()?.();
    }
  }

  return {
    enter: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        admit();
      }),
    leave(outcome) {
      under--;
      if (outcome === 'good') limit = Math.min(limitMax, limit + 1 / limit);
      if (outcome === 'overloaded') {
        // those that were sent beside the first failed one say nothing new
        if (spared <= 0) {
          limit = Math.max(1, limit / 2);
          spared = under;
        } else spared--;
      }
      admit();
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, Date.now() + ms);
      setTimeout(admit, ms).unref();
    },
    get limit() {
      return limit;
    },
  };
}
