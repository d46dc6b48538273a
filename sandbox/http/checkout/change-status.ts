import type { Sandbox } from '../../context.ts';
import { isTransitionAllowed, STATUSES } from '../../domain/statuses.ts';
import { applyStatusChange } from '../../lifecycle/apply-status-change.ts';
import { lockTransaction } from '../../store/read-transactions.ts';
import type { StoredTransaction } from '../../store/tables.ts';
import { transact } from '../../store/transact.ts';
import { ApiError, ERROR_CODES } from '../handle-error.ts';

/**
 * Changes the status of a transaction now, as its payer does, and drops its planned steps. The same status again changes
 * nothing. Throws ApiError: 404 unknown transaction, 422 unknown status or a transition that is not allowed.
 */
export async function changeStatus(sandbox: Sandbox, id: string, status: string): Promise<StoredTransaction> {
  if (!STATUSES.some((known) => known === status)) {
    throw new ApiError(422, ERROR_CODES.notAllowed, `There is no status "${status}". Known: ${STATUSES.join(', ')}.`);
  }
  const moved = await transact(sandbox.db, async (trx) => {
    const transaction = await lockTransaction(trx, id);
    if (transaction === undefined || transaction.visible === 0) throw new ApiError(404, 404, 'Transaction not found.');
    if (transaction.status === status) return transaction;
    if (!isTransitionAllowed(transaction.status, status)) {
      throw new ApiError(
        422,
        ERROR_CODES.notAllowed,
        `A transaction that is ${transaction.status} cannot become ${status}.`,
      );
    }
    await trx.deleteFrom('steps').where('transaction_seq', '=', transaction.seq).execute();
    const atWall = sandbox.clock.toWall(sandbox.now());
    return applyStatusChange(sandbox, trx, transaction, { status, atWall, announcement: 'auto' });
  });
  sandbox.wake.webhooks();
  return moved;
}
