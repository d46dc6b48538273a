import { type Compilable, CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from './tables.ts';

/** Whether the server has INSERT … RETURNING: MariaDB has, MySQL has not. */
export async function supportsReturning(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ version: string }>`SELECT VERSION() AS version`.execute(db);
  return rows[0]?.version.includes('MariaDB') ?? false;
}

/**
 * Inserts rows and returns them with their row numbers. The numbers need not be consecutive: MySQL interleaves those of
 * concurrent writers, and Galera steps them by the number of nodes.
 * @param columns the columns to return.
 * @param readBack reads the same rows after the INSERT, on a server without RETURNING.
 */
export async function insertReturning<Row>(
  { supportsReturning: returnsInserted }: { supportsReturning: boolean },
  trx: Transaction<Database>,
  insert: Compilable,
  columns: (keyof Row & string)[],
  readBack: () => Promise<Row[]>,
): Promise<Row[]> {
  const query = insert.compile();
  if (!returnsInserted) {
    await trx.executeQuery(query);
    return await readBack();
  }
  const names = columns.map((column) => `\`${column}\``).join(', ');
  const { rows } = await trx.executeQuery<Row>(
    CompiledQuery.raw(`${query.sql} RETURNING ${names}`, [...query.parameters]),
  );
  return rows;
}
