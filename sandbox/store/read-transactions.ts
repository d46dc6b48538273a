import type { Database, DatabaseTransaction, Event, StoredTransaction, TransactionRow } from './tables.ts';

/** Reads a transaction with its events, newest first; undefined if the id is unknown. */
export async function readTransaction(db: Database, id: string): Promise<StoredTransaction | undefined> {
  return await inSnapshot(db, async (snapshot) => {
    const row = await snapshot.selectFrom('transactions').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? undefined : (await withEvents(snapshot, [row]))[0];
  });
}

/** Reads rows and their events as of one instant: a status that moves in between would contradict its history. */
export async function inSnapshot<T>(db: Database, read: (snapshot: Database) => Promise<T>): Promise<T> {
  return await db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}

/** As readTransaction, and locks the row until the database transaction ends. */
export async function lockTransaction(trx: DatabaseTransaction, id: string): Promise<StoredTransaction | undefined> {
  const row = await trx.selectFrom('transactions').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
  return row === undefined ? undefined : (await withEvents(trx, [row]))[0];
}

/** Adds to each row its events, newest first; keeps the order of the rows. */
export async function withEvents(db: Database, rows: readonly TransactionRow[]): Promise<StoredTransaction[]> {
  const events = await readEvents(
    db,
    rows.map((row) => row.seq),
  );
  return rows.map((row) => ({ ...row, events: events.get(row.seq) ?? [] }));
}

/** Reads the events of transactions, newest first, by transaction key. */
export async function readEvents(db: Database, sequences: readonly number[]): Promise<Map<number, Event[]>> {
  const bySeq = new Map<number, Event[]>();
  if (sequences.length === 0) return bySeq;
  const found = await db
    .selectFrom('events')
    .select(['transaction_seq', 'status', 'at_wall'])
    .where('transaction_seq', 'in', sequences)
    .orderBy('transaction_seq')
    .orderBy('position', 'desc')
    .execute();
  for (const { transaction_seq, status, at_wall } of found) {
    const events = bySeq.get(transaction_seq);
    const event = { date_created: at_wall, status };
    if (events === undefined) bySeq.set(transaction_seq, [event]);
    else events.push(event);
  }
  return bySeq;
}
