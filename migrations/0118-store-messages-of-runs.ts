import { type Kysely, sql } from 'kysely';

/** Stores the names and values of an error's messages beside its English text: the console says them in the reader's language. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['runs', 'run_windows']) {
    const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
      WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${table} AND COLUMN_NAME = 'error_says'`.execute(db);
    if (rows.length > 0) continue;
    await sql`ALTER TABLE ${sql.table(table)}
      ADD COLUMN error_says TEXT NULL COMMENT 'the messages of error, as JSON'`.execute(db);
  }
}
