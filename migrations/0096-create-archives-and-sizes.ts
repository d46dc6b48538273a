import { type Kysely, sql } from 'kysely';

/** Archives of webhook bodies, daily sizes of tables and disks, and up to when a merchant's callbacks were dropped. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS body_archives (
    first_webhook_seq BIGINT NOT NULL PRIMARY KEY COMMENT 'bodies of applied webhooks from here to last_webhook_seq are in the file',
    last_webhook_seq BIGINT NOT NULL,
    file VARBINARY(64) NOT NULL COMMENT 'below ARCHIVE_DIR',
    bodies INT NOT NULL,
    body_bytes BIGINT NOT NULL COMMENT 'of the bodies, before they were compressed',
    file_bytes BIGINT NOT NULL,
    archived_at DATETIME(3) NOT NULL,
    UNIQUE KEY body_archives_file (file)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS size_days (
    name VARBINARY(64) NOT NULL COMMENT 'a table; DATA_DIR, SPOOL_DIR or ARCHIVE_DIR: the used bytes of its disk',
    host VARBINARY(255) NOT NULL COMMENT 'of a disk; empty for a table',
    measured_at DATETIME(3) NOT NULL COMMENT 'the first time of that day',
    day DATE NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (name, host, day),
    KEY size_days_day (day)
  ) ENGINE=InnoDB`.execute(db);

  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'merchants' AND COLUMN_NAME = 'callbacks_dropped_to'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE merchants ADD COLUMN callbacks_dropped_to DATETIME(3) NULL
      COMMENT 'delivered callbacks created up to then may have been dropped'`.execute(db);
}
