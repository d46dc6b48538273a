import { type Kysely, sql } from 'kysely';

/**
 * What the webhook-ids of events and corrections are derived from. NULL: learnt before this migration, or by a process of the version
 * before it, so the id is derived as then, for ever.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, column, definition] of COLUMNS) {
    const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
      WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${table} AND COLUMN_NAME = ${column}`.execute(db);
    if (rows.length === 0)
      await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.id(column)} ${definition}`.execute(db);
  }
}

const COLUMNS = [
  [
    'events',
    'number',
    sql`INT NULL COMMENT 'which time the status comes, in the order of learning; an inferred event is the first'`,
  ],
  [
    'corrections',
    'content_hash',
    sql`BINARY(32) NULL COMMENT 'keyed digest of the facts before and after, as first written'`,
  ],
] as const;
