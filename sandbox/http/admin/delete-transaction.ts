import type { Sandbox } from '../../context.ts';
import { lockTransaction } from '../../store/read-transactions.ts';
import { transact } from '../../store/transact.ts';
import { Refusal } from '../answer-error.ts';
import { deletionSchema, readAs } from './admin-schemas.ts';

/** Deletes a transaction for good, or (`?from=list`, `?from=show`) hides it there; PATCH brings the hidden back. */
export async function deleteTransaction(
  sandbox: Sandbox,
  id: string,
  query: unknown,
): Promise<{ id: string; from: string }> {
  const { from } = readAs(deletionSchema, query);
  await transact(sandbox.db, async (trx) => {
    const transaction = await lockTransaction(trx, id);
    if (transaction === undefined) throw new Refusal(404, 404, 'Transaction not found.');
    const { seq } = transaction;
    if (from === 'list') await trx.updateTable('transactions').set({ listed: 0 }).where('seq', '=', seq).execute();
    else if (from === 'show')
      await trx.updateTable('transactions').set({ visible: 0 }).where('seq', '=', seq).execute();
    else {
      await trx.deleteFrom('steps').where('transaction_seq', '=', seq).execute();
      await trx.deleteFrom('events').where('transaction_seq', '=', seq).execute();
      await trx.deleteFrom('transactions').where('seq', '=', seq).execute();
    }
  });
  return { id, from };
}
