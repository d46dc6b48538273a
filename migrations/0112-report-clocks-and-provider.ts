import { type Kysely, sql } from 'kysely';

/** What a process reports beside its life: how far its clock is off, and how the provider answers it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'heartbeats' AND COLUMN_NAME = 'ahead_ms'`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE heartbeats
    ADD COLUMN ahead_ms BIGINT NULL COMMENT 'how far its machine''s clock is ahead of the database''s; behind: below 0',
    ADD COLUMN facts VARCHAR(2000) NULL COMMENT 'of the part provider: how the provider answered, as JSON'`.execute(db);
}
