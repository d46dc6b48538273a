/**
 * Who may send a request now. How many are under way at once adapts to the provider: each good answer adds a little,
 * each sign of overload (429, 5xx, a time-out) halves, at most once for the requests that were under way together.
 * Who waits is let in by priority, and a place is kept free for verifications; with a budget, nobody is let in without
 * a token of it. A place is never held while a token is waited for, nor a token while there is no place.
 */
import { SYSTEM_TIMERS, type Timers } from '../timers.ts';
import { ProviderError } from './provider-error.ts';

/** The most urgent first. `unproven`: what a sender names of whose webhooks the provider knew none lately. */
export const PRIORITIES = ['verification', 'today', 'unproven', 'settled', 'backfill'] as const;
export type Priority = (typeof PRIORITIES)[number];

export type RequestScheduler = {
  /** @returns a ticket to leave with. @throws the signal's reason, or ProviderError in a pause too long to wait for. */
  acquire(signal: AbortSignal, priority?: Priority): Promise<RequestSlot>;
  release(ticket: RequestSlot, outcome: 'good' | 'overloaded' | 'other'): void;
  /** Nobody enters before then. */
  pause(ms: number): void;
  readonly concurrencyLimit: number;
};

/** How often the limit had been halved when the request was let in. */
export type RequestSlot = number;

/** Requests that may be sent: so many at once, or how long to wait before asking again. */
export type TokenGrant = { tokens: number } | { waitMs: number };
export type TokenBucket = { take(priority: Priority): Promise<TokenGrant> };

const LIMIT_START = 4;
/** A pause longer than this is not waited for in place: who asked is told, and comes again by itself. */
export const IN_PLACE_WAIT_MS_MAX = 120_000;
/** Tokens that nobody used by then are lost: used later, they would crowd the minute that follows. */
export const TOKEN_TTL_MS = 1_000;
const BUDGET_FAILED_MS = 1_000;

/** Whether what failed one request stops all others too: the key is refused, or we are to stay away for long. Pure. */
export function blocksAllRequests(error: ProviderError): boolean {
  return error.code === 'provider_unauthorized' || (error.retryAfterMs ?? 0) > IN_PLACE_WAIT_MS_MAX;
}

type Waiting = { enter(ticket: RequestSlot): void; refuse(error: unknown): void };

export function createRequestScheduler(
  limitMax: number,
  budget?: TokenBucket,
  timers: Timers = SYSTEM_TIMERS,
): RequestScheduler {
  let limit = Math.min(LIMIT_START, limitMax);
  let under = 0;
  let halvings = 0;
  let pausedUntil = 0;
  const waiting = new Map(PRIORITIES.map((priority) => [priority, new Set<Waiting>()]));
  const purse = budget && createPurse(budget, admit, timers);

  function hasRoom(priority: Priority): boolean {
    const places = Math.floor(limit);
    return under < (priority === 'verification' ? places : Math.max(1, places - 1));
  }

  function admit(): void {
    const wait = pausedUntil - timers.monotonicMs();
    if (wait > 0) {
      if (wait > IN_PLACE_WAIT_MS_MAX) refuseAll(wait);
      else timers.after(wait, admit);
      return;
    }
    for (const [priority, queue] of waiting) {
      for (const one of queue) {
        if (!hasRoom(priority)) return;
        // what is less urgent may not have a token that this one waits for
        if (purse && !purse.spend(priority)) return;
        under++;
        queue.delete(one);
        one.enter(halvings);
      }
    }
  }

  function refuseAll(retryAfterMs: number): void {
    for (const queue of waiting.values()) {
      for (const one of queue) {
        queue.delete(one);
        one.refuse(
          new ProviderError('provider_unavailable', 'the provider asked to be left alone for a while', {
            retryAfterMs,
          }),
        );
      }
    }
  }

  return {
    acquire: (signal, priority = 'verification') =>
      new Promise((resolve, reject) => {
        const queue = waiting.get(priority);
        const giveUp = (): void => {
          queue?.delete(one);
          reject(signal.reason);
        };
        const settle = (then: () => void): void => {
          signal.removeEventListener('abort', giveUp);
          then();
        };
        const one: Waiting = {
          enter: (ticket) => settle(() => resolve(ticket)),
          refuse: (error) => settle(() => reject(error)),
        };
        if (signal.aborted) return giveUp();
        signal.addEventListener('abort', giveUp, { once: true });
        queue?.add(one);
        admit();
      }),
    release(ticket, outcome) {
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
      pausedUntil = Math.max(pausedUntil, timers.monotonicMs() + ms);
      admit();
    },
    get concurrencyLimit() {
      return limit;
    },
  };
}

/** The tokens that this process has taken and not used yet, and the asking for more. */
function createPurse(budget: TokenBucket, onChange: () => void, timers: Timers) {
  const held = new Map(PRIORITIES.map((priority) => [priority, { tokens: 0, until: 0 }]));
  const asking = new Set<Priority>();

  function ask(priority: Priority): void {
    if (asking.has(priority)) return;
    asking.add(priority);
    const again = (ms: number): void => {
      timers.after(ms, () => {
        asking.delete(priority);
        onChange();
      });
    };
    budget.take(priority).then(
      (grant) => {
        if ('waitMs' in grant) return again(grant.waitMs);
        held.set(priority, { tokens: grant.tokens, until: timers.monotonicMs() + TOKEN_TTL_MS });
        asking.delete(priority);
        onChange();
      },
      // the database is away: without it nobody knows what others have sent
      () => again(BUDGET_FAILED_MS),
    );
  }

  return {
    /** Uses a token that was taken for something as urgent or less so; else asks for more. */
    spend(priority: Priority): boolean {
      for (const from of PRIORITIES.slice(PRIORITIES.indexOf(priority))) {
        const purse = held.get(from);
        if (!purse || purse.tokens < 1 || purse.until < timers.monotonicMs()) continue;
        purse.tokens--;
        return true;
      }
      ask(priority);
      return false;
    },
  };
}
