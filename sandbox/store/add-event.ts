import type { DatabaseTransaction, StoredTransaction } from './tables.ts';

/** Appends an event to the history of a locked transaction and sets the transaction's status to it. */
export async function addEvent(
  trx: DatabaseTransaction,
  transaction: StoredTransaction,
  event: { status: string; atWall: string; e2eId?: string },
): Promise<StoredTransaction> {
  const { status, atWall } = event;
  const e2e_id = event.e2eId ?? transaction.e2e_id;
  const position = transaction.events.length + 1;
  await trx
    .insertInto('events')
    .values({ transaction_seq: transaction.seq, position, status, at_wall: atWall })
    .execute();
  await trx
    .updateTable('transactions')
    .set({ status, updated_wall: atWall, e2e_id })
    .where('seq', '=', transaction.seq)
    .execute();
  const events = [{ date_created: atWall, status }, ...transaction.events];
  return { ...transaction, status, updated_wall: atWall, e2e_id, events };
}
