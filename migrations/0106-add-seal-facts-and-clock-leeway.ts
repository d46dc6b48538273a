import { type Kysely, sql } from 'kysely';

/**
 * A seal that is a cut names the highest number of `fact_changes` that was read with its other numbers. NULL: it is none, as
 * those of 0.1.0. And days that ended before now stay proven by readings from their end on, as 0.1.0 closed them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'seals' AND COLUMN_NAME = 'fact_change_seq'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE seals
      ADD COLUMN fact_change_seq BIGINT NULL COMMENT 'watermark of fact_changes; NULL: not a cut'`.execute(db);
  await sql`INSERT INTO settings (name, value)
    SELECT 'clock_leeway_since', DATE_FORMAT(UTC_TIMESTAMP(3), '%Y-%m-%dT%H:%i:%s.%fZ') FROM run_windows LIMIT 1
    ON DUPLICATE KEY UPDATE name = VALUES(name)`.execute(db);
}
