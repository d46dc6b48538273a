import { type Kysely, sql } from 'kysely';

/** The heartbeat of receivers: a row for each minute in which one was alive. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS receiver_minutes (
    minute DATETIME NOT NULL PRIMARY KEY,
    last_arrival_at DATETIME(3) NULL COMMENT 'the newest webhook of the inbox as of that minute'
  ) ENGINE=InnoDB`.execute(db);
}
