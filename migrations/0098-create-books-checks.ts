import { type Kysely, sql } from 'kysely';

/** What the books check found proven, so that the next one starts there; and how far an unfinished whole check is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS books_checks (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    since_seq BIGINT NULL COMMENT 'the check whose proof it continues; NULL: it read everything',
    version VARBINARY(64) NOT NULL,
    started_at DATETIME(3) NOT NULL,
    saved_at DATETIME(3) NOT NULL,
    saves INT NOT NULL DEFAULT 0 COMMENT 'two processes never continue one check: each save names the number before',
    finished_at DATETIME(3) NULL,
    position BIGINT NOT NULL COMMENT 'the seal up to which the chain was read',
    hash BINARY(32) NOT NULL COMMENT 'of that seal',
    entries BIGINT NOT NULL COMMENT 'sealed up to there',
    transactions BIGINT NOT NULL,
    broken INT NOT NULL COMMENT 'breaks; a finished check without any is a proof',
    state MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON: where it continues, digests of the balances by month, openings',
    signature BINARY(32) NOT NULL COMMENT 'HMAC: a row written by hand is not used'
  ) ENGINE=InnoDB`.execute(db);
}
