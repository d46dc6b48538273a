import { type Kysely, sql } from 'kysely';

/**
 * A revision knows which events it saw just below its cut, so that one committed later is told; and a fact that was
 * filled in or corrected says where that came from.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of [
    "cut_event_window BLOB NULL COMMENT 'one bit for each of the newest numbers of events up to the cut: whether it was there'",
    "checked_event_count INT NULL COMMENT 'how many events of the window there were when the rows were last compared'",
  ]) {
    await addColumn(db, 'reports', column);
  }
  for (const column of [
    "source_kind VARBINARY(16) NULL COMMENT 'NULL: this change is from before its source was kept'",
    'source_webhook_seq BIGINT NULL',
    'source_run_seq BIGINT NULL',
    'source_page INT NULL',
  ]) {
    await addColumn(db, 'fact_changes', column);
  }
}

async function addColumn(db: Kysely<unknown>, table: string, column: string): Promise<void> {
  const name = column.split(' ')[0] ?? '';
  const known = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${name}`.execute(db);
  if (known.rows.length > 0) return;
  await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.raw(column)}`.execute(db);
}
