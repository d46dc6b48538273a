import { type Kysely, sql } from 'kysely';

/** Days whose history has been made up, or is being: a restart goes on where a day was left, and makes none twice. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS history_days (
    day CHAR(10) CHARACTER SET ascii NOT NULL PRIMARY KEY,
    seed VARBINARY(255) NOT NULL,
    transactions INT NOT NULL,
    finished TINYINT NOT NULL
  ) ENGINE=InnoDB`.execute(db);
}
