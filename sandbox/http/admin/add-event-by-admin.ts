import type { Sandbox } from '../../context.ts';
import { type Announcement, moveTransaction } from '../../lives/move-transaction.ts';
import { lockTransaction } from '../../store/read-transactions.ts';
import { transact } from '../../store/transact.ts';
import { Refusal } from '../answer-error.ts';
import { showTransaction } from '../show-transaction.ts';
import { adminEventSchema, readAs, type WebhookWish } from './admin-schemas.ts';

/** One more event, whatever the model says, now or at a wall; what was planned no longer happens. */
export async function addEventByAdmin(
  sandbox: Sandbox,
  id: string,
  body: unknown,
): Promise<{ transaction: unknown[] }> {
  const { status, at, webhook } = readAs(adminEventSchema, body);
  const atWall = at ?? sandbox.clock.wallOf(sandbox.now());
  const moved = await transact(sandbox.db, async (trx) => {
    const transaction = await lockTransaction(trx, id);
    if (transaction === undefined) throw new Refusal(404, 404, 'Transaction not found.');
    await trx.deleteFrom('steps').where('transaction_seq', '=', transaction.seq).execute();
    return moveTransaction(sandbox, trx, transaction, { status, atWall, announcement: announcementOf(webhook) });
  });
  sandbox.wake.webhooks();
  const context = { settings: sandbox.settings, switches: sandbox.switches.current };
  return { transaction: [showTransaction(moved, 'show', context)] };
}

function announcementOf(wish: WebhookWish): Announcement {
  if (wish === true) return 'auto';
  if (wish === false) return 'none';
  return { fate: wish.fate, delayMs: wish.delay_ms, forged: wish.forged };
}
