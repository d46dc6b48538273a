import type { Context } from '../context.ts';
import { describeError } from '../log.ts';
import type { ClaimedCallback } from './claimed-callback.ts';

/** Ends the leases of callbacks that were claimed and not sent. Where that fails too, the leases run out. */
export async function giveBack(context: Context, callbacks: ClaimedCallback[]): Promise<void> {
  if (callbacks.length === 0) return;
  try {
    await context.db
      .updateTable('callbacks')
      .set({ lease_holder: null, lease_until: null, next_attempt_at: context.clock.now() })
      .where(
        'seq',
        'in',
        callbacks.map((callback) => callback.seq),
      )
      .where('lease_holder', '=', context.holder)
      .execute();
  } catch (error) {
    context.log.warn({ error: describeError(error), callbacks: callbacks.length }, 'leases are left to run out');
  }
}
