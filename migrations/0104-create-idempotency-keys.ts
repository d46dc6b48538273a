import { type Kysely, sql } from 'kysely';

/**
 * Requests that carried an Idempotency-Key and changed something, and what they did and answered: a repetition gets that, and changes
 * nothing.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS idempotency_keys (
    key_hash BINARY(32) NOT NULL PRIMARY KEY COMMENT 'keyed hash of the caller and the key',
    request_hash BINARY(32) NOT NULL COMMENT 'keyed hash of method, path, query and body',
    holder BINARY(8) NOT NULL COMMENT 'the request that works on it',
    lease_until DATETIME(3) NOT NULL COMMENT 'then another request may continue it',
    created_at DATETIME(3) NOT NULL COMMENT 'committed with the first change',
    KEY idempotency_keys_created (created_at)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS idempotency_results (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    key_hash BINARY(32) NOT NULL,
    number INT NOT NULL COMMENT '0: the answer; 1, 2, …: the result of each change, committed with it',
    sealed MEDIUMBLOB NULL COMMENT 'encrypted; NULL: erased with a person who was named in it',
    UNIQUE KEY idempotency_results_number (key_hash, number)
  ) ENGINE=InnoDB`.execute(db);
}
