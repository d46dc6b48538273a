/**
 * Admits requests to the provider. The concurrency limit adapts: each good answer raises it a little, each sign of
 * overload (429, 5xx, a time-out) halves it, at most once for requests that were in flight together. Waiting requests
 * are admitted by priority, and one slot stays free for verifications. With a token bucket each request also needs a
 * token. No slot is held while waiting for a token, and no token while waiting for a slot.
 */

import { message } from '../texts/messages.ts';
import { SYSTEM_TIMERS, type Timers } from '../timers.ts';
import { ProviderError } from './provider-error.ts';

/** Most urgent first. `unproven`: named by a sender whose recent webhooks the provider did not know. */
export const PRIORITIES = ['verification', 'today', 'unproven', 'settled', 'backfill'] as const;
export type Priority = (typeof PRIORITIES)[number];

export type RequestScheduler = {
  /** @returns the slot to release. @throws the signal's reason, or ProviderError in a pause too long to wait for. */
  acquire(signal: AbortSignal, priority?: Priority): Promise<RequestSlot>;
  release(slot: RequestSlot, outcome: 'good' | 'overloaded' | 'other'): void;
  /** Admits no request for this long. */
  pause(ms: number): void;
  readonly concurrencyLimit: number;
};

/** How often the limit had been halved when the request was admitted. */
export type RequestSlot = number;

/** The tokens granted, or how long to wait before the next attempt. */
export type TokenGrant = { tokens: number } | { waitMs: number };
export type TokenBucket = { take(priority: Priority): Promise<TokenGrant> };

const LIMIT_START = 4;
/** In a longer pause waiting requests are refused; their callers retry later. */
export const IN_PLACE_WAIT_MS_MAX = 120_000;
/** Unused tokens expire after this: used later, they would exceed the rate of the next minute. */
export const TOKEN_TTL_MS = 1_000;
const BUDGET_FAILED_MS = 1_000;

/** Whether an error of one request applies to all others: the key is refused, or the pause is long. Pure. */
export function blocksAllRequests(error: ProviderError): boolean {
  return error.code === 'provider_unauthorized' || (error.retryAfterMs ?? 0) > IN_PLACE_WAIT_MS_MAX;
}

type Waiting = { enter(slot: RequestSlot): void; refuse(error: unknown): void };

export function createRequestScheduler(
  limitMax: number,
  bucket?: TokenBucket,
  timers: Timers = SYSTEM_TIMERS,
): RequestScheduler {
  let limit = Math.min(LIMIT_START, limitMax);
  let inFlight = 0;
  let halvings = 0;
  let pausedUntil = 0;
  const waiting = new Map(PRIORITIES.map((priority) => [priority, new Set<Waiting>()]));
  const tokens = bucket && createTokenCache(bucket, admit, timers);

  function hasSlot(priority: Priority): boolean {
    const slots = Math.floor(limit);
    return inFlight < (priority === 'verification' ? slots : Math.max(1, slots - 1));
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
        if (!hasSlot(priority)) return;
        // a less urgent request must not take the token that this one waits for
        if (tokens && !tokens.spend(priority)) return;
        inFlight++;
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
          new ProviderError('provider_unavailable', message('provider.paused'), {
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
        const abort = (): void => {
          queue?.delete(one);
          reject(signal.reason);
        };
        const finish = (then: () => void): void => {
          signal.removeEventListener('abort', abort);
          then();
        };
        const one: Waiting = {
          enter: (slot) => finish(() => resolve(slot)),
          refuse: (error) => finish(() => reject(error)),
        };
        if (signal.aborted) return abort();
        signal.addEventListener('abort', abort, { once: true });
        queue?.add(one);
        admit();
      }),
    release(slot, outcome) {
      inFlight--;
      if (outcome === 'good') limit = Math.min(limitMax, limit + 1 / limit);
      // failures of requests that were in flight with the first failed one are no new sign
      if (outcome === 'overloaded' && slot === halvings) {
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

/** Caches the tokens that this process took and has not used, and requests more. */
function createTokenCache(bucket: TokenBucket, onChange: () => void, timers: Timers) {
  const cached = new Map(PRIORITIES.map((priority) => [priority, { tokens: 0, until: 0 }]));
  const requesting = new Set<Priority>();

  function request(priority: Priority): void {
    if (requesting.has(priority)) return;
    requesting.add(priority);
    const retryAfter = (ms: number): void => {
      timers.after(ms, () => {
        requesting.delete(priority);
        onChange();
      });
    };
    bucket.take(priority).then(
      (grant) => {
        if ('waitMs' in grant) return retryAfter(grant.waitMs);
        cached.set(priority, { tokens: grant.tokens, until: timers.monotonicMs() + TOKEN_TTL_MS });
        requesting.delete(priority);
        onChange();
      },
      // the database is away: without it no process knows what the others have sent
      () => retryAfter(BUDGET_FAILED_MS),
    );
  }

  return {
    /** Uses a token that was taken for this or a lower priority; else requests more. @returns whether it used one. */
    spend(priority: Priority): boolean {
      for (const from of PRIORITIES.slice(PRIORITIES.indexOf(priority))) {
        const grant = cached.get(from);
        if (!grant || grant.tokens < 1 || grant.until < timers.monotonicMs()) continue;
        grant.tokens--;
        return true;
      }
      request(priority);
      return false;
    },
  };
}
