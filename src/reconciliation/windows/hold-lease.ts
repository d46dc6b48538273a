import type { Context } from '../../context.ts';
import type { RunRef } from './run-ref.ts';

export const LEASE_MS = 30_000;
const RENEW_MS = 7_000;

/** A run's lease was lost. Another process may work on the run, so this one writes nothing more about it. */
export class LeaseLostError extends Error {
  override name = 'LeaseLost';
}

export type Lease = Disposable & {
  /** @throws LeaseLost once another process may have claimed the run. */
  check(): void;
};

/**
 * Renews the lease of a claimed run. A process that was stopped, or cut off from the database, for longer than the lease
 * learns here that another process may have claimed its run, and stops working on it.
 */
export function holdLease(context: Context, run: Pick<RunRef, 'seq' | 'id' | 'holder'>): Lease {
  let heldUntil = context.clock.now().getTime() + LEASE_MS;
  let isLost = false;
  async function renew(): Promise<void> {
    const until = context.clock.now().getTime() + LEASE_MS;
    const renewed = await context.db
      .updateTable('runs')
      .set({ lease_until: new Date(until) })
      .where('seq', '=', run.seq)
      .where('lease_holder', '=', run.holder)
      .executeTakeFirst();
    if (renewed.numUpdatedRows === 1n) heldUntil = until;
    else isLost = true;
  }
  const renewal = context.timers.every(RENEW_MS, () => void renew().catch(() => undefined));
  return {
    check() {
      if (isLost || context.clock.now().getTime() > heldUntil)
        throw new LeaseLostError(`the lease of run ${run.id} was lost`);
    },
    [Symbol.dispose]: () => renewal.cancel(),
  };
}
