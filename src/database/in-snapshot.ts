import type { Kysely, Transaction } from 'kysely';
import type { Database } from './tables.ts';

/** Runs `work` in a read-only snapshot: all its reads see the same instant. Within a transaction it joins that one. */
export async function inSnapshot<T>(
  db: Kysely<Database>,
  work: (snapshot: Transaction<Database>) => Promise<T>,
): Promise<T> {
  if (db.isTransaction) return await work(db as Transaction<Database>);
  return await db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
}
