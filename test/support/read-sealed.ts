import { sql } from 'kysely';
import type { Context } from '../../src/context.ts';
import { placeOf, SEALED_COLUMNS } from '../../src/database/keys/sealed-columns.ts';
import type { Place } from '../../src/database/keys/vault.ts';

/** A sealed value of the database, and where it was found. */
export type SealedValue = { column: string; place: Place; sealed: Buffer; isPlaced: boolean };

/** Reads all sealed values of the columns that hold some. */
export async function readSealed({ db, vault }: Context): Promise<SealedValue[]> {
  const found: SealedValue[] = [];
  for (const { table, column } of SEALED_COLUMNS) {
    const { rows } = await sql<Record<string, never>>`SELECT * FROM ${sql.table(table)}`.execute(db);
    for (const row of rows) {
      const sealed = row[column] as unknown as Buffer | null;
      if (sealed === null || (table === 'settings' && !String(row.name).startsWith('key_'))) continue;
      const place = placeOf(table, row);
      found.push({ column: place.purpose, place, sealed, isPlaced: vault.isPlaced(sealed) });
    }
  }
  return found;
}

/** Lists all columns of all tables that hold a value which begins as this key's sealed values do: `table.column`. */
export async function findSealedColumns({ db, vault }: Context): Promise<string[]> {
  const { rows: columns } = await sql<{ table: string; name: string }>`SELECT TABLE_NAME AS \`table\`,
    COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()
    AND DATA_TYPE IN ('binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob')`.execute(db);
  const heads = [1, 2].map((version) => Buffer.from(`0${version}${vault.keyId}`, 'hex'));
  const found: string[] = [];
  for (const { table, name } of columns) {
    const { rows } = await sql`SELECT 1 FROM ${sql.table(table)}
      WHERE SUBSTRING(${sql.ref(name)}, 1, 9) IN (${sql.join(heads)}) LIMIT 1`.execute(db);
    if (rows.length > 0) found.push(`${table}.${name}`);
  }
  return found.sort();
}
