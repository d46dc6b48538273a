import { type Kysely, sql } from 'kysely';

/** The callback of a merchant's last failed attempt: no index has the times of attempts. Null until one fails, and while processes of the version before record them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'merchants' AND COLUMN_NAME = 'last_failed_callback'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE merchants ADD COLUMN last_failed_callback BIGINT NULL COMMENT 'callbacks.seq'`.execute(db);
}
