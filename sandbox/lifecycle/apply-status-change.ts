import type { Sandbox } from '../context.ts';
import { isAnnounced } from '../faults/switches.ts';
import { makeE2eId } from '../pix/make-e2e-id.ts';
import { addEvent } from '../store/add-event.ts';
import type { DatabaseTransaction, StoredTransaction } from '../store/tables.ts';
import { decideFate, type WebhookFate } from '../webhooks/decide-fate.ts';
import { enqueueWebhook } from '../webhooks/enqueue-webhook.ts';

/** `auto`: a webhook with a random fate, if the switches announce the change. Otherwise none, or one with the given fate. */
export type Announcement = 'auto' | 'none' | WebhookFate;

/**
 * Moves a locked transaction to a status: adds an event, an end-to-end id when it is paid, and the webhook, all in the
 * database transaction that holds the lock. The caller wakes the sender after the commit.
 */
export async function applyStatusChange(
  sandbox: Sandbox,
  trx: DatabaseTransaction,
  transaction: StoredTransaction,
  change: { status: string; atWall: string; announcement: Announcement },
): Promise<StoredTransaction> {
  const { status, atWall, announcement } = change;
  // a random stream per change: the seed decides its fate, independent of the order of changes
  const random = sandbox.random.fork(`${transaction.id}/${transaction.events.length}`);
  const paidNow = status === 'paid' && transaction.e2e_id === '';
  const e2e = paidNow ? { e2eId: makeE2eId(random, sandbox.clock.toInstant(atWall)) } : {};
  const moved = await addEvent(trx, transaction, { status, atWall, ...e2e });
  if (announcement === 'none' || sandbox.settings.webhookUrl === undefined) return moved;
  const { current } = sandbox.switches;
  if (announcement !== 'auto') await enqueueWebhook(sandbox, trx, moved, { status, atWall }, announcement);
  else if (isAnnounced(current, moved.operation, status)) {
    await enqueueWebhook(sandbox, trx, moved, { status, atWall }, decideFate(random, current.webhooks));
  }
  return moved;
}
