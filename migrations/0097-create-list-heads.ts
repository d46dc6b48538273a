import { type Kysely, sql } from 'kysely';

/** The newest rows of the list of today and yesterday, and how many days of a run were read by what is new in them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS list_heads (
    day DATE NOT NULL PRIMARY KEY,
    whole_at DATETIME(3) NOT NULL COMMENT 'start of the complete reading on which the head rests',
    total INT NOT NULL COMMENT 'rows that the list held',
    head_rows MEDIUMBLOB NOT NULL COMMENT 'JSON: id, creation, digest and status of the newest rows, newest first'
  ) ENGINE=InnoDB`.execute(db);

  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'runs' AND COLUMN_NAME = 'days_recent'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE runs ADD COLUMN days_recent INT NOT NULL DEFAULT 0
      COMMENT 'days of which only what is new was read'`.execute(db);
}
