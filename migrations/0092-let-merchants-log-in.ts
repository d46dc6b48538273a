import { type Kysely, sql } from 'kysely';

/** Merchants log in to a portal of their own, narrow their filter there, and pause themselves. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, name, definition] of COLUMNS) {
    const { rows } = await sql<{ name: string }>`SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS
      WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${table} AND COLUMN_NAME = ${name}`.execute(db);
    if (rows.length === 0)
      await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(name)} ${definition}`.execute(db);
  }
}

const COLUMNS = [
  ['merchants', 'own_filter', sql`MEDIUMTEXT NULL COMMENT 'JSON, set by the merchant; NULL: it accepts all'`],
  ['merchants', 'paused_by', sql`VARBINARY(16) NULL COMMENT 'operator, merchant'`],
  ['tokens', 'merchant_seq', sql`BIGINT NULL COMMENT 'the merchant whose portal it opens; NULL: a token of ours'`],
] as const;
