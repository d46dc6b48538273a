import { auditChange } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { isAwaitingConfirmation } from '../database/restores.ts';
import { ConfereError } from '../domain/errors.ts';
import { closeGaps } from './close-gaps.ts';

/**
 * Confirms a restore: callbacks are sent again. A gap that has not ended ends at the first webhook, or now.
 * @throws ConfereError `conflict` if no restore waits for it.
 */
export async function confirmRestore(context: Context): Promise<void> {
  await auditChange(
    context,
    async (inner) => {
      const { db, clock } = inner;
      if (!(await isAwaitingConfirmation(db)))
        throw new ConfereError('conflict', 'no restore waits for a confirmation: callbacks are not held');
      await closeGaps(inner);
      const now = clock.now();
      const open = db.updateTable('restores').where('confirmed_at', 'is', null);
      await open.where('gap_to', 'is', null).set({ gap_to: now }).execute();
      await open.set({ confirmed_at: now }).execute();
    },
    { actor: 'command', action: 'restores.confirm', target: 'database' },
  );
  context.wakeUps.callbacks.notify();
}
