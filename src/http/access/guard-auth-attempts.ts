/**
 * What stands between a stranger who guesses and the tokens. A credential that this process has met before as a good one
 * goes through, and is looked up as ever, so that one that was revoked ends at once. All others share a few slots, are
 * counted by address when they open nothing, and are answered 429 from an address that keeps guessing: neither the
 * database's connections nor those who have a token wait for them.
 */
import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { authFailures } from '../../metrics/metrics.ts';

/** What a credential is for: our API and /metrics, a merchant's events, the console's login and its pages. */
export type AuthAttemptKind = 'bearer' | 'pull' | 'login' | 'session';
export type AuthAttempt = { kind: AuthAttemptKind; address: string | undefined; credential: string };

export type AuthGuard = {
  /**
   * Looks a credential up.
   * @returns what `look` found; undefined, counted as a failure, where it opens nothing.
   * @throws ConfereError `too_many_requests` for an address that failed too often, and where the slots are taken.
   */
  admit<T>(attempt: AuthAttempt, look: () => Promise<T | undefined>): Promise<T | undefined>;
};

export const AUTH_ATTEMPT_LIMITS = {
  /** Failures of one address in a window; then it waits for the window's end. */
  failuresMax: 100,
  windowMs: 60_000,
  /** Addresses that are remembered; the one that failed first is forgotten first. */
  addressesMax: 10_000,
  /** Look-ups of unknown credentials at once, and how many wait for one of these slots. */
  slots: 2,
  waitingMax: 100,
  /** Good credentials that are remembered, by hash. */
  knownMax: 10_000,
  logEveryMs: 10_000,
};
/** One household or machine has a /64 to itself. */
const V6_PREFIX_BYTES = 8;

export function createAuthGuard(context: Pick<Context, 'log' | 'clock'>, limits = AUTH_ATTEMPT_LIMITS): AuthGuard {
  const known = new Map<string, true>();
  const failures = createFailures(context, limits);
  const withSlot = createSlots(limits);
  return {
    async admit({ kind, address, credential }, look) {
      const digest = createHash('sha256').update(kind).update(credential).digest('base64');
      const isKnown = known.has(digest);
      if (!isKnown) failures.refuse(address);
      const found = isKnown ? await look() : await withSlot(look);
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
      throw new ConfereError(
        'too_many_requests',
        `too many credentials that open nothing came from this address: try again in ${retryAfterS} s`,
        { retryAfterS },
      );
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

/** The newest stand at the end: beyond `max` the oldest goes. */
function remember<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

/** Runs as much at once as there are slots. */
function createSlots({ slots, waitingMax }: typeof AUTH_ATTEMPT_LIMITS) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < slots) running++;
    else if (waiting.length >= waitingMax) {
      throw new ConfereError('too_many_requests', 'too many unknown credentials at once: try again', {
        retryAfterS: 1,
      });
    } else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

/** An address as failures are counted by it: of IPv6 its /64. What is none, from a proxy's header, is one group. */
function groupAddress(address = ''): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const bytes = parsed.toByteArray().fill(0, V6_PREFIX_BYTES);
  return `${new ipaddr.IPv6(bytes).toString()}/64`;
}
