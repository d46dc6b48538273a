import { type Kysely, sql } from 'kysely';

/** See 0013-baseline-append-only.ts. */
const NOT_ALLOWED_ERRNOS = new Set([1419, 1142, 1227, 1044]);

/**
 * Files that people imported. A file is imported once: its SHA-256 is unique for its kind, and no row is ever changed. Lines of
 * the bank may come without FITID.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS imports (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    kind VARBINARY(20) NOT NULL COMMENT 'statements, adjustments, accounts, platforms, bank',
    sha256 BINARY(32) NOT NULL COMMENT 'of the file',
    bytes INT NOT NULL,
    rows_read INT NOT NULL,
    rows_changed INT NOT NULL,
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY imports_id (id),
    UNIQUE KEY imports_file (kind, sha256)
  ) ENGINE=InnoDB`.execute(db);
  for (const verb of ['update', 'delete']) await refuse(db, verb);
  await addOccurrence(db);
}

async function addOccurrence(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'bank_lines' AND column_name = 'occurrence'`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE bank_lines ADD COLUMN occurrence INT NULL
    COMMENT 'of a line without FITID: its number among equal lines of the day; fitid_hash is then of these'`.execute(
    db,
  );
}

async function refuse(db: Kysely<unknown>, verb: string): Promise<void> {
  const name = `imports_no_${verb}`;
  const { rows } = await sql`SELECT 1 FROM information_schema.triggers
    WHERE trigger_schema = DATABASE() AND trigger_name = ${name}`.execute(db);
  if (rows.length > 0) return;
  try {
    await sql`CREATE TRIGGER ${sql.id(name)} BEFORE ${sql.raw(verb.toUpperCase())} ON imports
      FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'imports is append-only'`.execute(db);
  } catch (error) {
    if (!NOT_ALLOWED_ERRNOS.has((error as { errno?: number }).errno ?? 0)) throw error;
  }
}
