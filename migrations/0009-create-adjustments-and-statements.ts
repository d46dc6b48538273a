import { type Kysely, sql } from 'kysely';

/** What people enter: movements that the provider's list does not show, and balances read off the provider's panel. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS adjustments (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    platform VARBINARY(64) NOT NULL,
    day DATE NOT NULL,
    kind VARBINARY(8) NOT NULL COMMENT 'bank, fee, block, other',
    amount_cents BIGINT NOT NULL COMMENT 'positive adds to Available',
    note VARCHAR(1000) NOT NULL,
    entry_seq BIGINT NOT NULL,
    reverses_seq BIGINT NULL,
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY adjustments_id (id),
    UNIQUE KEY adjustments_reverses (reverses_seq)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS statements (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    platform VARBINARY(64) NOT NULL,
    at DATETIME(3) NOT NULL,
    at_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    balance_cents BIGINT NOT NULL COMMENT 'Available + Held, as the panel shows it',
    compared_at DATETIME(3) NULL COMMENT 'once its day has been read past it',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY statements_id (id),
    KEY statements_compared (compared_at),
    KEY statements_platform (platform, at_wall)
  ) ENGINE=InnoDB`.execute(db);
}
