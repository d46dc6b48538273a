import type { DatabaseTransaction, StoredTransaction } from './tables.ts';
import { updateHourCounts } from './update-hour-counts.ts';

/** Sets whether the list contains a locked transaction, and updates the count of its hour. */
export async function setListed(
  trx: DatabaseTransaction,
  { seq, listed, created_wall }: StoredTransaction,
  wanted: boolean,
): Promise<void> {
  if ((listed === 1) === wanted) return;
  await trx
    .updateTable('transactions')
    .set({ listed: wanted ? 1 : 0 })
    .where('seq', '=', seq)
    .execute();
  await updateHourCounts(trx, [created_wall], wanted ? 1 : -1);
}

/** Sets whether `GET /api/v1/transaction/<id>` shows a transaction. */
export async function setVisible(trx: DatabaseTransaction, { seq }: StoredTransaction, wanted: boolean): Promise<void> {
  await trx
    .updateTable('transactions')
    .set({ visible: wanted ? 1 : 0 })
    .where('seq', '=', seq)
    .execute();
}
