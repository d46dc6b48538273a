import type { Context } from '../../context.ts';
import type { RunRef } from './run-ref.ts';

export const LEASE_MS = 30_000;
const RENEW_MS = 7_000;

/** A run's lease was lost: another process works it now, so nothing more is written about it here. */
export class LeaseLostError extends Error {
  override name = 'LeaseLost';
}

export type Lease = Disposable & {
  /** @throws LeaseLost once another process may have taken the run up. */
  check(): void;
};

/**
 * Keeps a claimed run ours while we work. A process that was stopped, or cut off from the database, for longer than
 * the lease learns here that its run was taken up by another, and leaves it alone.
 */
export function holdLease(context: Context, run: Pick<RunRef, 'seq' | 'id' | 'holder'>): Lease {
  let heldUntil = context.clock.now().getTime() + LEASE_MS;
  let taken = false;
  async function renew(): Promise<void> {
    const until = context.clock.now().getTime() + LEASE_MS;
    const kept = await context.db
      .updateTable('runs')
      .set({ lease_until: new Date(until) })
      .where('seq', '=', run.seq)
      .where('lease_holder', '=', run.holder)
      .executeTakeFirst();
    if (kept.numUpdatedRows === 1n) heldUntil = until;
    else taken = true;
  }
  const renewal = context.timers.every(RENEW_MS, () => void renew().catch(() => undefined));
  return {
    check() {
      if (taken || context.clock.now().getTime() > heldUntil)
        throw new LeaseLostError(`run ${run.id} is not ours any more`);
    },
    [Symbol.dispose]: () => renewal.cancel(),
  };
}
