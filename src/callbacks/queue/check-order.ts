/** How long a failing callback holds back the newer ones of its transaction. */
export const ORDER_HOLD_MS = 15 * 60_000;
/** When a newer one looks again by itself, where the older one's end would usually wake it. */
export const RECHECK_MS = 60_000;

/** A callback of the same merchant and transaction with a lower sequence, not yet delivered and not failed for good. */
export type OlderCallback = { firstFailedAt: Date | null };

/**
 * Until when a callback has to wait for older ones of its transaction: each that is still to be delivered holds it back
 * until it is, or has been failing for 15 minutes.
 * @returns undefined when it may go now.
 */
export function blockedUntil(older: OlderCallback[], now: Date): Date | undefined {
  const released = older.map((one) =>
    one.firstFailedAt ? one.firstFailedAt.getTime() + ORDER_HOLD_MS : now.getTime() + RECHECK_MS,
  );
  const last = Math.max(...released, 0);
  return last > now.getTime() ? new Date(last) : undefined;
}
