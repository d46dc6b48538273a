/**
 * How many requests are under way at once: adapts to the provider. Each good answer adds a little, each sign of
 * overload (429, 5xx, a time-out) halves, at most once for the requests that were under way together.
 */
export type Gate = {
  /** @returns a ticket to leave with. @throws the signal's reason when it is aborted before the gate opens. */
  enter(signal: AbortSignal): Promise<Ticket>;
  leave(ticket: Ticket, outcome: 'good' | 'overloaded' | 'other'): void;
  /** Nobody enters before then. */
  pause(ms: number): void;
  readonly limit: number;
};

/** How often the limit had been halved when the request was let in. */
export type Ticket = number;

const LIMIT_START = 4;

export function createGate(limitMax: number): Gate {
  let limit = Math.min(LIMIT_START, limitMax);
  let under = 0;
  let halvings = 0;
  let pausedUntil = 0;
  const waiting = new Set<(ticket: Ticket) => void>();

  function admit(): void {
    const wait = pausedUntil - Date.now();
    if (wait > 0) {
      setTimeout(admit, wait).unref();
      return;
    }
    for (const enter of waiting) {
      if (under >= Math.floor(limit)) return;
      under++;
      waiting.delete(enter);
      enter(halvings);
    }
  }

  return {
    enter: (signal) =>
      new Promise((resolve, reject) => {
        const giveUp = (): void => {
          waiting.delete(enter);
          reject(signal.reason);
        };
        const enter = (ticket: Ticket): void => {
          signal.removeEventListener('abort', giveUp);
          resolve(ticket);
        };
        if (signal.aborted) return giveUp();
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(enter);
        admit();
      }),
    leave(ticket, outcome) {
      under--;
      if (outcome === 'good') limit = Math.min(limitMax, limit + 1 / limit);
      // those that were under way beside the first failed one say nothing new
      if (outcome === 'overloaded' && ticket === halvings) {
        limit = Math.max(1, limit / 2);
        halvings++;
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
