/**
 * Hourly byte quota of a sender for bodies that name no transaction, and for large bodies while the sender has no
 * hit on record (of the last day). The database counts the hour for all replicas. Each process takes a sixteenth of it at a time, so most bodies
 * cost no statement. While the database is away, each process counts alone.
 */
import type { Context } from '../../context.ts';
import { HOUR_MS } from '../../domain/calendar.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import { chargeSender, findLastHits } from './charge-senders.ts';

/** Share of QUARANTINE_MAX_BYTES that one sender may leave in an hour, */
export const GARBAGE_SHARE_PER_HOUR = 1 / 16;
/** … and never less than this. */
export const GARBAGE_BYTES_PER_HOUR_MIN = 1024 ** 2;
/** Charged for the row of each body, in addition to the body. */
export const GARBAGE_ROW_BYTES = 1024;
/** A webhook about one transaction has about 1 KiB. 1,001 items, which are too many, have 11 KiB or more. */
export const LARGE_BODY_BYTES = 8 * 1024;
const SLICES_PER_HOUR = 16;
/** Bounds how long a body waits for a database that hangs. */
const QUERY_TIMEOUT_MS = 1_000;
const SENDERS_KEPT_MAX = 10_000;

/** The bytes that this process may still grant to one sender. */
type Budget = {
  left: number;
  untilMs: number;
  isSpent: boolean;
  /** Granted without the database. */
  grantedAlone: number;
  refilling: Promise<void> | undefined;
};
type Store = Pick<Context, 'db' | 'clock'>;

export type GarbageQuota = {
  /** Charges the sender for a body of this many bytes. @returns whether its quota suffices. */
  take(sender: string, bytes: number): Promise<boolean>;
};

/** @param store undefined before the database was reached: then this process counts alone. */
export function createGarbageQuota(maxBytes: number, store: Store | undefined): GarbageQuota {
  const hourBytes = Math.max(GARBAGE_BYTES_PER_HOUR_MIN, Math.floor(maxBytes * GARBAGE_SHARE_PER_HOUR));
  const slice = Math.ceil(hourBytes / SLICES_PER_HOUR);
  const budgets = new Map<string, Budget>();
  const nowMs = (): number => store?.clock.now().getTime() ?? Date.now();

  function budgetOf(sender: string): Budget {
    const known = budgets.get(sender);
    if (known && known.untilMs > nowMs()) return known;
    if (budgets.size >= SENDERS_KEPT_MAX) budgets.clear();
    const fresh = { left: 0, untilMs: nowMs() + HOUR_MS, isSpent: false, grantedAlone: 0, refilling: undefined };
    budgets.set(sender, fresh);
    return fresh;
  }

  async function refill(budget: Budget, sender: string, bytes: number): Promise<void> {
    const wanted = Math.max(slice, bytes);
    const { granted, until } = await charge(budget, sender, wanted);
    budget.left += granted;
    budget.untilMs = until.getTime();
    budget.isSpent = granted < wanted;
  }

  async function charge(budget: Budget, sender: string, wanted: number): Promise<{ granted: number; until: Date }> {
    const charged =
      store && (await askDatabase(chargeSender(store, { sender, cost: 'garbage_bytes', wanted, max: hourBytes })));
    if (charged) return charged;
    const granted = Math.min(wanted, hourBytes - budget.grantedAlone);
    budget.grantedAlone += granted;
    return { granted, until: new Date(budget.untilMs) };
  }

  return {
    async take(sender, bodyBytes) {
      const bytes = bodyBytes + GARBAGE_ROW_BYTES;
      for (;;) {
        const budget = budgetOf(sender);
        if (budget.left >= bytes) {
          budget.left -= bytes;
          return true;
        }
        if (budget.isSpent) return false;
        // bodies that arrive during the charge share it
        budget.refilling ??= refill(budget, sender, bytes).finally(() => {
          budget.refilling = undefined;
        });
        await budget.refilling;
      }
    },
  };
}

/**
 * Returns a function that says whether a sender may have had a hit. It says yes while the database does not answer: a
 * genuine webhook must not be refused.
 */
export function createHitCheck(store: Store): (sender: string) => Promise<boolean> {
  const proven = new Set<string>();
  return async (sender) => {
    if (proven.has(sender)) return true;
    const hits = await askDatabase(findLastHits(store, [sender]));
    if (!hits) return true;
    if (!hits.has(sender)) return false;
    if (proven.size >= SENDERS_KEPT_MAX) proven.clear();
    proven.add(sender);
    return true;
  };
}

/** @returns undefined when the database fails or does not answer within QUERY_TIMEOUT_MS. */
async function askDatabase<T>(answer: Promise<T>): Promise<T | undefined> {
  return await withTimeLimit(QUERY_TIMEOUT_MS, () => answer).catch(() => undefined);
}
