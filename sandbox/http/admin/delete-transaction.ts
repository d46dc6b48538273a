import type { Sandbox } from '../../context.ts';
import { lockTransaction } from '../../store/read-transactions.ts';
import { setListed, setVisible } from '../../store/set-visibility.ts';
import type { DatabaseTransaction, StoredTransaction } from '../../store/tables.ts';
import { transact } from '../../store/transact.ts';
import { ApiError } from '../handle-error.ts';
import { deletionSchema, parseInput } from './admin-schemas.ts';

/** Deletes a transaction, or hides it from the list or by id (`?from=list`, `?from=show`); PATCH shows it again. */
export async function deleteTransaction(
  sandbox: Sandbox,
  id: string,
  query: unknown,
): Promise<{ id: string; from: string }> {
  const { from } = parseInput(deletionSchema, query);
  await transact(sandbox.db, async (trx) => {
    const transaction = await lockTransaction(trx, id);
    if (transaction === undefined) throw new ApiError(404, 404, 'Transaction not found.');
    if (from === 'list') await setListed(trx, transaction, false);
    else if (from === 'show') await setVisible(trx, transaction, false);
    else await erase(trx, transaction);
  });
  return { id, from };
}

async function erase(trx: DatabaseTransaction, transaction: StoredTransaction): Promise<void> {
  const { seq } = transaction;
  await setListed(trx, transaction, false);
  await trx.deleteFrom('steps').where('transaction_seq', '=', seq).execute();
  await trx.deleteFrom('events').where('transaction_seq', '=', seq).execute();
  await trx.deleteFrom('transactions').where('seq', '=', seq).execute();
}
