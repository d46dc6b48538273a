import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { describeError } from '../../log.ts';
import type { ClaimedCallback } from './claimed-callback.ts';

/**
 * Releases callbacks that were claimed but not sent: they are due at once. If this fails, their leases run out.
 * @param sent the callback before them, which the recorder may be recording. Lock it first: then either the recorder sees
 * these leases released and wakes them, or the next claim sees the recorder's commit.
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
    context.log.warn(
      { error: describeError(error), callbacks: callbacks.length },
      'callbacks could not be released; their leases run out',
    );
  }
}
