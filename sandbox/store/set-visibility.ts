import type { DatabaseTransaction, StoredTransaction } from './tables.ts';
import { updateHourCounts } from './update-hour-counts.ts';

/** Whether the list has a locked transaction; its hour's count follows. */
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

/** Whether a transaction's own address shows it. */
export async function setVisible(trx: DatabaseTransaction, { seq }: StoredTransaction, wanted: boolean): Promise<void> {
  await trx
    .updateTable('transactions')
    .set({ visible: wanted ? 1 : 0 })
    .where('seq', '=', seq)
    .execute();
}
