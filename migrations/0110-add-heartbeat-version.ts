import { type Kysely, sql } from 'kysely';

/**
 * Which version a process is of: earlier ones leave it NULL. 0.1.0 has no heartbeats, so one row stands for all processes that may be
 * alive now (src/database/keys/older-processes.ts). A new database has none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'heartbeats' AND COLUMN_NAME = 'version'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE heartbeats ADD COLUMN version VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin
      NULL COMMENT 'of the process; NULL: before versions were recorded'`.execute(db);
  await sql`INSERT INTO heartbeats (part, holder, host, seen_at)
    SELECT 'earlier', 'before 0110', '', UTC_TIMESTAMP(3) FROM settings WHERE name = 'secret_key_check' LIMIT 1
    ON DUPLICATE KEY UPDATE seen_at = UTC_TIMESTAMP(3)`.execute(db);
}
