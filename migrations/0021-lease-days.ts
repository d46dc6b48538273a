import { type Kysely, sql } from 'kysely';

/** Which run reads which day of the list: never two at once. A row holds for as long as its run's lease does. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS run_days (
    day DATE NOT NULL PRIMARY KEY,
    run_seq BIGINT NOT NULL,
    holder VARBINARY(64) NOT NULL COMMENT 'that of the run, when the day was taken'
  ) ENGINE=InnoDB`.execute(db);
}
