import { type Kysely, sql } from 'kysely';

/** Progress of the generated history by day: a restart continues a day where it stopped, and generates none twice. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS history_days (
    day CHAR(10) CHARACTER SET ascii NOT NULL PRIMARY KEY,
    seed VARBINARY(255) NOT NULL,
    transactions INT NOT NULL,
    finished TINYINT NOT NULL
  ) ENGINE=InnoDB`.execute(db);
}
