import { type Kysely, sql } from 'kysely';

/** Archives of webhook bodies and of the audit, daily sizes of tables and disks, and up to when a merchant's callbacks were dropped. */
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

  await sql`CREATE TABLE IF NOT EXISTS audit_archives (
    first_audit_seq BIGINT NOT NULL PRIMARY KEY COMMENT 'rows of the audit from here to last_audit_seq are in the file, but for closes of months',
    last_audit_seq BIGINT NOT NULL,
    file VARBINARY(64) NOT NULL COMMENT 'below ARCHIVE_DIR',
    entries INT NOT NULL,
    file_bytes BIGINT NOT NULL,
    archived_at DATETIME(3) NOT NULL,
    UNIQUE KEY audit_archives_file (file)
  ) ENGINE=InnoDB`.execute(db);
  await guardArchives(db);

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

/** As in 0013: a server that does not allow triggers has no guard, and `doctor` reports it. */
const NOT_ALLOWED_ERRNOS = new Set([1419, 1142, 1227, 1044]);

/** `audit_archives` is append-only, and rows of the audit can be deleted once it names them. */
async function guardArchives(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string; body: string }>`SELECT TRIGGER_NAME AS name, ACTION_STATEMENT AS body
    FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()`.execute(db);
  const bodies = new Map(rows.map(({ name, body }) => [name, body]));
  try {
    for (const verb of ['update', 'delete']) {
      const name = `audit_archives_no_${verb}`;
      if (!bodies.has(name))
        await sql`CREATE TRIGGER ${sql.id(name)} BEFORE ${sql.raw(verb.toUpperCase())} ON audit_archives
          FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'audit_archives is append-only'`.execute(db);
    }
    if (bodies.get('audit_no_delete')?.includes('audit_archives')) return;
    if (bodies.has('audit_no_delete')) await sql`DROP TRIGGER audit_no_delete`.execute(db);
    await sql`CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit FOR EACH ROW
      IF NOT EXISTS (SELECT 1 FROM audit_archives WHERE first_audit_seq <= OLD.seq AND last_audit_seq >= OLD.seq)
      THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'audit is append-only'; END IF`.execute(db);
  } catch (error) {
    if (!NOT_ALLOWED_ERRNOS.has((error as { errno?: number }).errno ?? 0)) throw error;
  }
}
