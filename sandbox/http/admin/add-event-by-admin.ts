import type { Sandbox } from '../../context.ts';
import { type Announcement, applyStatusChange } from '../../lifecycle/apply-status-change.ts';
import { lockTransaction } from '../../store/read-transactions.ts';
import { transact } from '../../store/transact.ts';
import { ApiError } from '../handle-error.ts';
import { presentTransaction } from '../present-transaction.ts';
import { adminEventSchema, parseInput, type WebhookOption } from './admin-schemas.ts';

/** Adds any event, now or at a wall, without checking the model, and drops the planned steps. */
export async function addEventByAdmin(
  sandbox: Sandbox,
  id: string,
  body: unknown,
): Promise<{ transaction: unknown[] }> {
  const { status, at, webhook } = parseInput(adminEventSchema, body);
  const atWall = at ?? sandbox.clock.toWall(sandbox.now());
  const moved = await transact(sandbox.db, async (trx) => {
    const transaction = await lockTransaction(trx, id);
    if (transaction === undefined) throw new ApiError(404, 404, 'Transaction not found.');
    await trx.deleteFrom('steps').where('transaction_seq', '=', transaction.seq).execute();
    return applyStatusChange(sandbox, trx, transaction, { status, atWall, announcement: announcementOf(webhook) });
  });
  sandbox.wake.webhooks();
  const context = { settings: sandbox.settings, switches: sandbox.switches.current };
  return { transaction: [presentTransaction(moved, 'show', context)] };
}

function announcementOf(wish: WebhookOption): Announcement {
  if (wish === true) return 'auto';
  if (wish === false) return 'none';
  return { fate: wish.fate, delayMs: wish.delay_ms, forged: wish.forged };
}
