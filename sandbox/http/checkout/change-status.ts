import type { Sandbox } from '../../context.ts';
import { mayFollow, STATUSES } from '../../domain/statuses.ts';
import { moveTransaction } from '../../lives/move-transaction.ts';
import { lockTransaction } from '../../store/read-transactions.ts';
import type { KnownTransaction } from '../../store/tables.ts';
import { transact } from '../../store/transact.ts';
import { CODES, Refusal } from '../answer-error.ts';

/**
 * Moves a transaction as its payer does, now, if it may go there; what was planned for it no longer happens. The same
 * status again changes nothing. Throws Refusal: 404 unknown, 422 no such status or not from here.
 */
export async function changeStatus(sandbox: Sandbox, id: string, status: string): Promise<KnownTransaction> {
  if (!STATUSES.some((known) => known === status)) {
    throw new Refusal(422, CODES.notAllowed, `There is no status "${status}". Known: ${STATUSES.join(', ')}.`);
  }
  const moved = await transact(sandbox.db, async (trx) => {
    const transaction = await lockTransaction(trx, id);
    if (transaction === undefined || transaction.visible === 0) throw new Refusal(404, 404, 'Transaction not found.');
    if (transaction.status === status) return transaction;
    if (!mayFollow(transaction.status, status)) {
      throw new Refusal(422, CODES.notAllowed, `A transaction that is ${transaction.status} cannot become ${status}.`);
    }
    await trx.deleteFrom('steps').where('transaction_seq', '=', transaction.seq).execute();
    const atWall = sandbox.clock.wallOf(sandbox.now());
    return moveTransaction(sandbox, trx, transaction, { status, atWall, announcement: 'auto' });
  });
  sandbox.wake.webhooks();
  return moved;
}
