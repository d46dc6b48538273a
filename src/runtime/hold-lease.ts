import type { Clock } from '../database/clock.ts';
import { describeError, type Log } from '../log.ts';
import type { Timer, Timers } from '../timers.ts';

/** A lease was lost. Another process may do the work now, so this one writes nothing more about it. */
export class LeaseLostError extends Error {
  override name = 'LeaseLost';
}

export type HeldLease = AsyncDisposable & {
  /** Aborts once the lease is taken or has ended, for good. */
  signal: AbortSignal;
  /** @throws LeaseLost once the lease is taken, and while it has ended and was not renewed since. */
  check(): void;
};

/**
 * Renews a lease until it is disposed. It is lost once a renewal finds it taken, or none succeeded before it ended, as in a
 * process that was stopped or cut off from the database. Disposing waits for the renewals that are under way: one that
 * arrived later would extend the lease of work that has ended.
 * @param lease.of what it protects, for errors and the log.
 * @param lease.renew stores the new end; it returns false if another process has claimed the work.
 */
export function holdLease(
  { clock, timers, log }: { clock: Clock; timers: Timers; log: Log },
  lease: {
    of: Record<string, string>;
    leaseMs: number;
    renewMs: number;
    until: Date;
    renew: (until: Date) => Promise<boolean>;
  },
): HeldLease {
  const lost = new AbortController();
  const createError = () => new LeaseLostError(`the lease of ${Object.entries(lease.of).flat().join(' ')} was lost`);
  const lose = (): void => lost.abort(createError());
  const loseAt = (until: Date): Timer => timers.after(until.getTime() - clock.now().getTime(), lose);
  let heldUntil = lease.until;
  let end = loseAt(heldUntil);
  let renewals: Promise<unknown> = Promise.resolve();
  let isTaken = false;
  let isOver = false;

  async function renew(): Promise<void> {
    const until = new Date(clock.now().getTime() + lease.leaseMs);
    const isRenewed = await lease.renew(until);
    if (isOver) return;
    if (!isRenewed) {
      isTaken = true;
      lose();
    }
    heldUntil = until;
    end.cancel();
    end = loseAt(until);
  }

  const renewal = timers.every(lease.renewMs, () => {
    const renewed = renew().catch((error: unknown) =>
      log.warn({ error: describeError(error), ...lease.of }, 'a lease was not renewed; it is tried again'),
    );
    renewals = Promise.all([renewals, renewed]);
  });
  return {
    signal: lost.signal,
    check() {
      if (isTaken || clock.now() > heldUntil) throw createError();
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      renewal.cancel();
      end.cancel();
      await renewals;
    },
  };
}
