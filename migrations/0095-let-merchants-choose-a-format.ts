import { type Kysely, sql } from 'kysely';

/** A merchant chooses the format of its messages, and gets headers of its own with each: their values are secrets. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, name, definition] of COLUMNS) {
    const { rows } = await sql<{ name: string }>`SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS
      WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${table} AND COLUMN_NAME = ${name}`.execute(db);
    if (rows.length === 0)
      await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(name)} ${definition}`.execute(db);
  }
}

const COLUMNS = [
  ['merchants', 'format', sql`VARBINARY(16) NOT NULL DEFAULT 'standard' COMMENT 'standard, provider'`],
  ['merchant_secrets', 'header', sql`VARBINARY(64) NULL COMMENT 'the header whose value it is; NULL: it signs'`],
] as const;
