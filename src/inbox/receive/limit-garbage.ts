/**
 * How much a sender may leave in an hour that names no transaction. The hour is counted in the database for all
 * replicas; each process takes slices of it, so that most of such bodies cost no statement. While the database is away
 * each process counts alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { chargeSender } from './charge-senders.ts';

/** Of QUARANTINE_MAX_BYTES: what one sender may leave in an hour, */
export const GARBAGE_SHARE_PER_HOUR = 1 / 16;
/** … and no less than this. */
export const GARBAGE_BYTES_PER_HOUR_MIN = 1024 ** 2;
/** A row costs as much as so many bytes, however short its body is. */
export const GARBAGE_ROW_BYTES = 1024;
const SLICES_AN_HOUR = 16;
/** A database that hangs holds up no more of them than come within that. */
const CHARGE_MS_MAX = 1_000;
const HOUR_MS = 3_600_000;
const SENDERS_KEPT_MAX = 10_000;

type Purse = { left: number; untilMs: number; isSpent: boolean; alone: number; taking: Promise<void> | undefined };
type Store = Pick<Context, 'db' | 'clock'>;

export type GarbageQuota = {
  /** Whether a sender may leave so many bytes more: they are counted then. */
  take(sender: string, bytes: number): Promise<boolean>;
};

/** @param store undefined before the database was reached: then all is counted here. */
export function createGarbageQuota(maxBytes: number, store: Store | undefined): GarbageQuota {
  const hourBytes = Math.max(GARBAGE_BYTES_PER_HOUR_MIN, Math.floor(maxBytes * GARBAGE_SHARE_PER_HOUR));
  const slice = Math.ceil(hourBytes / SLICES_AN_HOUR);
  const purses = new Map<string, Purse>();
  const nowMs = (): number => store?.clock.now().getTime() ?? Date.now();

  function purseOf(sender: string): Purse {
    const known = purses.get(sender);
    if (known && known.untilMs > nowMs()) return known;
    if (purses.size >= SENDERS_KEPT_MAX) purses.clear();
    const fresh: Purse = { left: 0, untilMs: nowMs() + HOUR_MS, isSpent: false, alone: 0, taking: undefined };
    purses.set(sender, fresh);
    return fresh;
  }

  async function refill(purse: Purse, sender: string, bytes: number): Promise<void> {
    const wanted = Math.max(slice, bytes);
    const { granted, until } = await charge(purse, sender, wanted);
    purse.left += granted;
    purse.untilMs = until.getTime();
    purse.isSpent = granted < wanted;
  }

  async function charge(purse: Purse, sender: string, wanted: number): Promise<{ granted: number; until: Date }> {
    try {
      const charged = store && chargeSender(store, { sender, cost: 'garbage_bytes', wanted, max: hourBytes });
      const answer = await Promise.race([charged, sleep(CHARGE_MS_MAX, undefined, { ref: false })]);
      if (answer) return answer;
    } catch {
      // away: what this process grants by itself is bounded all the same
    }
    const granted = Math.min(wanted, hourBytes - purse.alone);
    purse.alone += granted;
    return { granted, until: new Date(purse.untilMs) };
  }

  return {
    async take(sender, body) {
      const bytes = body + GARBAGE_ROW_BYTES;
      for (;;) {
        const purse = purseOf(sender);
        if (purse.left >= bytes) {
          purse.left -= bytes;
          return true;
        }
        if (purse.isSpent) return false;
        // one charge for all that come meanwhile
        purse.taking ??= refill(purse, sender, bytes).finally(() => {
          purse.taking = undefined;
        });
        await purse.taking;
      }
    },
  };
}
