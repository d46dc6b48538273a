import { largest } from '../../domain/lists.ts';

/** How long a failing callback blocks the newer ones of its transaction. */
export const ORDER_HOLD_MS = 15 * 60_000;
/** When a blocked callback becomes due by itself. Usually the end of the older one makes it due sooner. */
export const RECHECK_MS = 60_000;

/** A callback of the same merchant and transaction with a lower sequence, not yet delivered and not failed for good. */
export type OlderCallback = { firstFailedAt: Date | null };

/**
 * Until when older callbacks of the same transaction block a newer one. Each open one blocks it until it is delivered,
 * or has been failing for 15 minutes.
 * @returns undefined if the callback may be sent now.
 */
export function blockedUntil(older: OlderCallback[], now: Date): Date | undefined {
  const released = older.map((one) =>
    one.firstFailedAt ? one.firstFailedAt.getTime() + ORDER_HOLD_MS : now.getTime() + RECHECK_MS,
  );
  const last = Math.max(largest(released), 0);
  return last > now.getTime() ? new Date(last) : undefined;
}
