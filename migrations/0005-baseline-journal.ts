import { type Kysely, sql } from 'kysely';

/**
 * The append-only double-entry journal, and the amounts that people state: openings, adjustments, statements,
 * commission contracts.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS accounts (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARBINARY(255) NOT NULL,
    UNIQUE KEY accounts_name (name)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS entries (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind VARBINARY(20) NOT NULL COMMENT 'event, commission, held_at_opening, opening, adjustment, reversal',
    transaction_seq BIGINT NULL,
    event_seq BIGINT NULL,
    reverses_seq BIGINT NULL,
    platform VARBINARY(64) NOT NULL,
    at_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    recorded_at DATETIME(3) NOT NULL,
    source_kind VARBINARY(8) NOT NULL,
    source_webhook_seq BIGINT NULL,
    source_run_seq BIGINT NULL,
    source_page INT NULL,
    UNIQUE KEY entries_reverses (reverses_seq),
    KEY entries_transaction (transaction_seq),
    KEY entries_at (at_wall, seq)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS postings (
    entry_seq BIGINT NOT NULL,
    position TINYINT NOT NULL,
    account_seq BIGINT NOT NULL,
    at_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'copy of entries.at_wall',
    amount_cents BIGINT NOT NULL COMMENT 'debit positive',
    PRIMARY KEY (entry_seq, position),
    KEY postings_account (account_seq, at_wall, amount_cents)
  ) ENGINE=InnoDB`,

  // the balance of a platform at the start of a day; at most one per platform is in force
  sql`CREATE TABLE IF NOT EXISTS openings (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    platform VARBINARY(64) NOT NULL,
    day DATE NOT NULL,
    balance_cents BIGINT NOT NULL COMMENT 'Available + Held at the start of the day',
    entry_seq BIGINT NOT NULL,
    in_force TINYINT NULL COMMENT '1; NULL: reversed',
    reposted_at DATETIME(3) NULL COMMENT 'when histories were reposted for this opening; NULL: not yet',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY openings_id (id),
    UNIQUE KEY openings_platform (platform, in_force)
  ) ENGINE=InnoDB`,

  // movements that the provider's list does not show
  sql`CREATE TABLE IF NOT EXISTS adjustments (
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
    opening_seq BIGINT NULL COMMENT 'the opening that took this adjustment out of the books, or did until it was reversed; NULL: entered by a person',
    UNIQUE KEY adjustments_id (id),
    UNIQUE KEY adjustments_reverses (reverses_seq)
  ) ENGINE=InnoDB`,

  // balances read off the provider's panel, compared with the ledger
  sql`CREATE TABLE IF NOT EXISTS statements (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    platform VARBINARY(64) NOT NULL,
    at DATETIME(3) NOT NULL,
    at_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    balance_cents BIGINT NOT NULL COMMENT 'Available + Held, as the provider''s panel shows it',
    compared_at DATETIME(3) NULL COMMENT 'when it was compared, after its day was read past this instant',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY statements_id (id),
    KEY statements_compared (compared_at),
    KEY statements_platform (platform, at_wall)
  ) ENGINE=InnoDB`,

  // the commission that the provider may charge
  sql`CREATE TABLE IF NOT EXISTS commission_contracts (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    platform VARBINARY(64) NULL COMMENT 'NULL: every platform without a contract of its own',
    operation VARBINARY(8) NOT NULL,
    fixed_cents BIGINT NOT NULL,
    basis_points INT NOT NULL,
    from_day DATE NOT NULL,
    to_day DATE NULL COMMENT 'the last day; NULL: until the next contract',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    withdrawn_at DATETIME(3) NULL,
    UNIQUE KEY commission_contracts_id (id)
  ) ENGINE=InnoDB`,
];
