import { type Kysely, sql } from 'kysely';

/** The history of each transaction; `position` counts from 1, the oldest. The books are sums by `at_wall`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS events (
    transaction_seq BIGINT NOT NULL,
    position INT NOT NULL,
    status VARBINARY(32) NOT NULL,
    at_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (transaction_seq, position),
    KEY at_wall (at_wall)
  ) ENGINE=InnoDB`.execute(db);
}
