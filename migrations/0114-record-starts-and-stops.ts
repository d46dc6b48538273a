import { type Kysely, sql } from 'kysely';

/** When a process started, and when it stopped by itself: one that is silent otherwise is lost, until another one starts in its place. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'heartbeats' AND COLUMN_NAME = 'stopped_at'`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE heartbeats
    ADD COLUMN started_at DATETIME(3) NULL COMMENT 'the first sign of life of the part; NULL: of an earlier version',
    ADD COLUMN stopped_at DATETIME(3) NULL COMMENT 'of the part database: when the process stopped by itself'`.execute(
    db,
  );
}
