import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { describeError } from '../../log.ts';
import type { ClaimedCallback } from './claimed-callback.ts';

/**
 * Ends the leases of callbacks that were claimed and not sent. Where that fails too, the leases run out.
 * @param sent the one before them, which is recorded meanwhile. Under its lock either the recorder, who wakes nothing that
 * is leased here, sees that they are not any more; or it is done, and whoever claims them sees that nothing is before them.
 */
export async function releaseCallbacks(
  context: Context,
  callbacks: ClaimedCallback[],
  sent?: ClaimedCallback,
): Promise<void> {
  if (callbacks.length === 0) return;
  const seqs = callbacks.map((callback) => callback.seq);
  try {
    await transact(context.db, async (trx) => {
      if (sent) await trx.selectFrom('callbacks').select('seq').where('seq', '=', sent.seq).forUpdate().execute();
      await trx
        .updateTable('callbacks')
        .set({ lease_holder: null, lease_until: null, next_attempt_at: context.clock.now() })
        .where('seq', 'in', seqs)
        .where('lease_holder', '=', context.holder)
        .execute();
    });
  } catch (error) {
    context.log.warn({ error: describeError(error), callbacks: callbacks.length }, 'leases are left to run out');
  }
}
