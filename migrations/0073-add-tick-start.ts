import { type Kysely, sql } from 'kysely';

/** When the last try of a tick began. NULL in ticks of earlier versions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'job_ticks' AND column_name = 'started_at'`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE job_ticks ADD COLUMN started_at DATETIME(3) NULL COMMENT 'of the last try'`.execute(db);
}
