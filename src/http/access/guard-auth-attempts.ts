/**
 * Limits how fast strangers can guess tokens. A credential that was valid before in this process is looked up at once, so
 * a revoked one stops working at once. Unknown credentials share a few slots, which sources get in turn. Failures are
 * counted by source, and a source that keeps failing is answered 429. So guesses occupy few database connections, and
 * delay neither known tokens nor the first login from another address.
 */
import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Context } from '../../context.ts';
import { nameSender } from '../../inbox/receive/name-sender.ts';
import { authFailures } from '../../metrics/metrics.ts';
import { refuse } from '../../texts/refuse.ts';
import { nameSite } from '../connections/group-sockets.ts';
import { createSourceQueue } from './queue-by-source.ts';

/** The area that a credential opens: our API and /metrics, a merchant's events, the console's logins, its pages. */
export type AuthAttemptKind = 'bearer' | 'pull' | 'login' | 'oidc' | 'session';
export type AuthAttempt = { kind: AuthAttemptKind; address: string | undefined; credential: string };

export type AuthGuard = {
  /**
   * Looks up a credential.
   * @returns what `find` found; undefined, counted as a failure, for an invalid credential.
   * @throws ConfereError `too_many_requests` for an address that failed too often, and where the queue is full.
   */
  admit<T>(attempt: AuthAttempt, find: () => Promise<T | undefined>): Promise<T | undefined>;
};

export const AUTH_ATTEMPT_LIMITS = {
  /** Failures of one source in a window; beyond, its unknown credentials are refused until the window ends. */
  failuresMax: 100,
  windowMs: 60_000,
  /** Sources whose failures are remembered; the one that failed first is dropped first. */
  addressesMax: 10_000,
  /** Concurrent look-ups of unknown credentials, and how many more wait for one of these slots. */
  slots: 2,
  waitingMax: 100,
  /** Valid credentials that are remembered, by hash. */
  knownMax: 10_000,
  logEveryMs: 10_000,
};

export function createAuthGuard(context: Pick<Context, 'log' | 'clock'>, limits = AUTH_ATTEMPT_LIMITS): AuthGuard {
  const known = new Map<string, true>();
  const failures = createFailures(context, limits);
  const withSlot = createSlots(limits);
  return {
    async admit({ kind, address, credential }, find) {
      const digest = createHash('sha256').update(kind).update(credential).digest('base64');
      const isKnown = known.has(digest);
      if (!isKnown) failures.refuse(address);
      const found = isKnown ? await find() : await withSlot(address, find);
      if (found !== undefined) remember(known, digest, true, limits.knownMax);
      else {
        known.delete(digest);
        failures.count(kind, address);
      }
      return found;
    },
  };
}

function createFailures({ log, clock }: Pick<Context, 'log' | 'clock'>, limits: typeof AUTH_ATTEMPT_LIMITS) {
  const byAddress = new Map<string, { count: number; endsAt: number }>();
  let unlogged = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  const windowOf = (key: string, now: number) => {
    const window = byAddress.get(key);
    return window && window.endsAt > now ? window : undefined;
  };
  return {
    refuse(address: string | undefined): void {
      const now = clock.now().getTime();
      const window = windowOf(groupAddress(address), now);
      if (!window || window.count < limits.failuresMax) return;
      const retryAfterS = Math.max(1, Math.ceil((window.endsAt - now) / 1000));
      throw refuse('credentials_refused', { s: retryAfterS }, { retryAfterS });
    },
    count(kind: AuthAttemptKind, address: string | undefined): void {
      const now = clock.now().getTime();
      authFailures.inc({ kind });
      const key = groupAddress(address);
      const window = windowOf(key, now);
      if (window) window.count++;
      else remember(byAddress, key, { count: 1, endsAt: now + limits.windowMs }, limits.addressesMax);
      unlogged++;
      if (now - loggedAt < limits.logEveryMs) return;
      log.warn({ kind, address: key, failures: unlogged }, 'a credential that opens nothing was refused');
      [unlogged, loggedAt] = [0, now];
    },
  };
}

/** Adds an entry as the newest; beyond `max` entries it removes the oldest. */
function remember<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

/** Runs up to `slots` look-ups at once; the others wait in turn by source. */
function createSlots({ slots, waitingMax }: typeof AUTH_ATTEMPT_LIMITS) {
  let running = 0;
  const queue = createSourceQueue<PromiseWithResolvers<void>>(waitingMax);
  return async <T>(address: string | undefined, work: () => Promise<T>): Promise<T> => {
    if (running < slots) running++;
    else {
      const slot = Promise.withResolvers<void>();
      const source = groupAddress(address);
      queue
        .push({ site: nameSite(address ?? '') ?? source, source }, slot)
        ?.reject(refuse('credentials_waiting', {}, { retryAfterS: 1 }));
      await slot.promise;
    }
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next.resolve();
      else running--;
    }
  };
}

/** The source that failures are counted by. All text that is no address, from a proxy's header, is one source. */
function groupAddress(address = ''): string {
  return ipaddr.isValid(address) ? nameSender(address) : 'unknown';
}
