import { type Kysely, sql } from 'kysely';

/** The maps of our accounts to the customer's chart of accounts. The newest row counts; a change is a new row. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS account_maps (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    accounts MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON: all rows of the map',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL
  ) ENGINE=InnoDB`.execute(db);
}
