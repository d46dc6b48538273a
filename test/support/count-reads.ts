import { type Kysely, sql } from 'kysely';
import type { Database } from '../../src/database/tables.ts';

/** Returns how many rows and entries of indexes the server reads for this work, on one connection. */
export async function countReads(
  db: Kysely<Database>,
  work: (db: Kysely<Database>) => Promise<unknown>,
): Promise<number> {
  return await db.connection().execute((one) => countReadsOn(one, () => work(one)));
}

/** As countReads, of work on a connection or in a transaction that is open. */
export async function countReadsOn(db: Kysely<Database>, work: () => Promise<unknown>): Promise<number> {
  const before = await readCount(db);
  await work();
  return (await readCount(db)) - before;
}

async function readCount(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ Value: string }>`SHOW SESSION STATUS LIKE 'Handler_read%'`.execute(db);
  return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
}
