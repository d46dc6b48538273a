import { type Kysely, sql } from 'kysely';

/** People whose data was erased: their data is removed from later webhooks and observations too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS forgotten_people (
    document_hash BINARY(32) NOT NULL PRIMARY KEY COMMENT 'HMAC-SHA256 of the document, with the search key',
    forgotten_at DATETIME(3) NOT NULL,
    finished_at DATETIME(3) NULL COMMENT 'NULL: not all tables and files are done yet',
    sealed_values MEDIUMBLOB NULL COMMENT 'the values to search for, encrypted; NULL once finished'
  ) ENGINE=InnoDB`,
];
