import { type Kysely, sql } from 'kysely';

/** What each spool has last said of itself: whether a webhook counts as lost depends on what may still come out of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS spools (
    name VARBINARY(64) NOT NULL PRIMARY KEY COMMENT 'of the host and the directory',
    seen_at DATETIME(3) NOT NULL,
    since DATETIME(3) NOT NULL COMMENT 'seen without a break since then',
    is_waiting TINYINT NOT NULL COMMENT 'it held webhooks that the inbox had not'
  ) ENGINE=InnoDB`.execute(db);
}
