import { countHours } from './count-hours.ts';
import type { DatabaseTransaction, KnownTransaction } from './tables.ts';

/** Whether the list has a locked transaction; its hour's count follows. */
export async function setListed(
  trx: DatabaseTransaction,
  { seq, listed, created_wall }: KnownTransaction,
  wanted: boolean,
): Promise<void> {
  if ((listed === 1) === wanted) return;
  await trx
    .updateTable('transactions')
    .set({ listed: wanted ? 1 : 0 })
    .where('seq', '=', seq)
    .execute();
  await countHours(trx, [created_wall], wanted ? 1 : -1);
}

/** Whether a transaction's own address shows it. */
export async function setVisible(trx: DatabaseTransaction, { seq }: KnownTransaction, wanted: boolean): Promise<void> {
  await trx
    .updateTable('transactions')
    .set({ visible: wanted ? 1 : 0 })
    .where('seq', '=', seq)
    .execute();
}
