import { type Kysely, sql } from 'kysely';

/**
 * The hash chain over the journal and the audit, and the balances that the sealer sums up. Postings are only appended,
 * and parallel writers share no row. One sealer turns the committed entries into the next position of the chain.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
  await sql`INSERT INTO sealing (id) VALUES (1) ON DUPLICATE KEY UPDATE id = id`.execute(db);
}

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS seals (
    position BIGINT NOT NULL PRIMARY KEY COMMENT '1, 2, 3… without a gap',
    entry_seq BIGINT NOT NULL COMMENT 'the highest entry below which all entries were committed',
    event_seq BIGINT NOT NULL,
    mismatch_change_seq BIGINT NOT NULL,
    members MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the entries sealed here: 1-40,43',
    entries INT NOT NULL,
    stragglers INT NOT NULL COMMENT 'members at or below entry_seq of the position before',
    previous_hash BINARY(32) NOT NULL,
    hash BINARY(32) NOT NULL,
    sealed_at DATETIME(3) NOT NULL,
    audit_seq BIGINT NULL COMMENT 'the highest audit row; NULL: sealed by a version that did not seal the audit',
    audit_members MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'the audit rows sealed here: 1-40,43',
    KEY seals_sealed_at (sealed_at)
  ) ENGINE=InnoDB`,

  // late entries: a cut by entry number alone would count them to an earlier position than the one that seals them
  sql`CREATE TABLE IF NOT EXISTS seal_stragglers (
    entry_seq BIGINT NOT NULL PRIMARY KEY,
    position BIGINT NOT NULL,
    KEY seal_stragglers_position (position)
  ) ENGINE=InnoDB`,

  // the lease of the sealer: one row
  sql`CREATE TABLE IF NOT EXISTS sealing (
    id TINYINT NOT NULL PRIMARY KEY,
    holder VARBINARY(64) NULL,
    lease_until DATETIME(3) NULL
  ) ENGINE=InnoDB`,

  // sums by month, day and hour: a balance at any instant is a few hundred rows and the postings of one hour
  sql`CREATE TABLE IF NOT EXISTS balance_spans (
    grain VARBINARY(5) NOT NULL COMMENT 'month, day, hour',
    span CHAR(13) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'prefix of a wall clock: 2026-11, 2026-11-21 or 2026-11-21 08',
    account_seq BIGINT NOT NULL,
    amount_cents BIGINT NOT NULL COMMENT 'sum of the sealed postings of that span, debit positive',
    PRIMARY KEY (grain, span, account_seq)
  ) ENGINE=InnoDB`,
];
