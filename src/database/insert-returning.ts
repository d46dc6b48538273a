import { type Compilable, CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from './tables.ts';

/** Whether the server gives back what an INSERT made: MariaDB does, MySQL has to be asked afterwards. */
export async function supportsReturning(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ version: string }>`SELECT VERSION() AS version`.execute(db);
  return rows[0]?.version.includes('MariaDB') ?? false;
}

/**
 * Inserts rows and reads them with the numbers that they were given: these need not follow one another, since MySQL
 * interleaves those of writers, and Galera steps them by the number of nodes.
 * @param columns what is read of each.
 * @param readBack the same, asked afterwards of a server that does not tell by itself.
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
