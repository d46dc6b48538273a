import { type Kysely, sql } from 'kysely';

/**
 * Transactions, their append-only events, and the append-only double-entry journal. Identifiers are VARBINARY: they are
 * compared byte for byte, which no text collation does on both MariaDB and MySQL. There are no foreign keys: they lock
 * parents that parallel appliers share, and `doctor` checks the references instead.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createTransactions(db);
  await createJournal(db);
  await createCases(db);
}

async function createTransactions(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS transactions (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(64) NOT NULL,
    operation VARBINARY(8) NOT NULL,
    status VARBINARY(64) NOT NULL,
    status_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    sequence INT NOT NULL COMMENT 'of the event that gives the status',
    event_count INT NOT NULL,
    amount_cents BIGINT NOT NULL,
    commission_cents BIGINT NULL,
    reference VARBINARY(512) NULL,
    extra VARBINARY(2048) NULL,
    extra_hash BINARY(32) NULL,
    platform VARBINARY(64) NULL,
    e2e_id VARBINARY(128) NULL,
    created_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    digest BINARY(32) NOT NULL COMMENT 'of the newest look',
    asked_at DATETIME(3) NOT NULL COMMENT 'when the newest look was asked',
    first_seen_at DATETIME(3) NOT NULL,
    UNIQUE KEY transactions_id (id),
    KEY transactions_created (created_wall, id),
    KEY transactions_status_wall (status_wall, id),
    KEY transactions_status (status, created_wall),
    KEY transactions_platform (platform, created_wall),
    KEY transactions_reference (reference),
    KEY transactions_extra (extra_hash),
    KEY transactions_e2e (e2e_id)
  ) ENGINE=InnoDB`.execute(db);

  // personal data in columns of its own
  await sql`CREATE TABLE IF NOT EXISTS parties (
    transaction_seq BIGINT NOT NULL PRIMARY KEY,
    name VARBINARY(1024) NULL,
    email VARBINARY(1024) NULL,
    phone VARBINARY(256) NULL,
    document VARBINARY(256) NULL,
    pix_key VARBINARY(512) NULL,
    description VARBINARY(4096) NULL
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS events (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    status VARBINARY(64) NOT NULL,
    at_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    occurrence INT NOT NULL COMMENT '0, or how many equal ones stood before it',
    position INT NOT NULL COMMENT 'its place in the history that first showed it, oldest 0: orders events of one second',
    sequence INT NOT NULL COMMENT '1, 2, 3… in the order in which we learnt them',
    inferred TINYINT NOT NULL COMMENT 'the provider gave a status without a history',
    seen_at DATETIME(3) NOT NULL,
    source_kind VARBINARY(8) NOT NULL,
    source_webhook_seq BIGINT NULL,
    source_run_seq BIGINT NULL,
    source_page INT NULL,
    UNIQUE KEY events_identity (transaction_seq, status, at_wall, occurrence),
    UNIQUE KEY events_sequence (transaction_seq, sequence),
    KEY events_at (at_wall, transaction_seq)
  ) ENGINE=InnoDB`.execute(db);
}

async function createJournal(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS accounts (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARBINARY(255) NOT NULL,
    UNIQUE KEY accounts_name (name)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS entries (
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
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS postings (
    entry_seq BIGINT NOT NULL,
    position TINYINT NOT NULL,
    account_seq BIGINT NOT NULL,
    at_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the entry''s',
    amount_cents BIGINT NOT NULL COMMENT 'debit positive',
    PRIMARY KEY (entry_seq, position),
    KEY postings_account (account_seq, at_wall, amount_cents)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS openings (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    platform VARBINARY(64) NOT NULL,
    day DATE NOT NULL,
    balance_cents BIGINT NOT NULL COMMENT 'Available + Held at the day''s start',
    entry_seq BIGINT NOT NULL,
    in_force TINYINT NULL COMMENT '1, or NULL once reversed',
    reposted_at DATETIME(3) NULL COMMENT 'when the histories were booked by it; NULL: to be done',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY openings_id (id),
    UNIQUE KEY openings_platform (platform, in_force)
  ) ENGINE=InnoDB`.execute(db);
}

async function createCases(db: Kysely<unknown>): Promise<void> {
  // a row of the provider's that could not be read: kept raw
  await sql`CREATE TABLE IF NOT EXISTS refused_rows (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_id VARBINARY(64) NULL,
    raw MEDIUMBLOB NOT NULL,
    hash BINARY(32) NOT NULL,
    reason VARCHAR(1000) NOT NULL,
    run_seq BIGINT NULL,
    page INT NULL,
    seen_at DATETIME(3) NOT NULL,
    UNIQUE KEY refused_rows_hash (hash)
  ) ENGINE=InnoDB`.execute(db);

  // a change that the provider owes a webhook for; settled when one came, or when it is lost
  await sql`CREATE TABLE IF NOT EXISTS owed_webhooks (
    event_seq BIGINT NOT NULL PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    event_at DATETIME(3) NOT NULL,
    due_at DATETIME(3) NOT NULL COMMENT 'the event + WEBHOOK_GRACE',
    run_seq BIGINT NULL,
    settled_at DATETIME(3) NULL,
    announced_at DATETIME(3) NULL,
    KEY owed_webhooks_due (settled_at, due_at),
    KEY owed_webhooks_event_at (event_at)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS mismatches (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    kind VARBINARY(32) NOT NULL,
    severity VARBINARY(16) NOT NULL,
    state VARBINARY(16) NOT NULL,
    scope VARBINARY(160) NOT NULL,
    open_scope VARBINARY(200) NULL COMMENT 'kind and scope while it is not resolved: unique among those',
    transaction_seq BIGINT NULL,
    transaction_id VARBINARY(64) NULL,
    reference VARBINARY(512) NULL,
    amount_cents BIGINT NULL,
    expected MEDIUMTEXT NULL COMMENT 'JSON',
    actual MEDIUMTEXT NULL COMMENT 'JSON',
    run_seq BIGINT NULL,
    webhook_seq BIGINT NULL,
    opened_at DATETIME(3) NOT NULL,
    acknowledged_at DATETIME(3) NULL,
    resolved_at DATETIME(3) NULL,
    resolution VARBINARY(64) NULL,
    note TEXT NULL,
    reopened INT NOT NULL DEFAULT 0,
    baseline TINYINT NOT NULL DEFAULT 0,
    UNIQUE KEY mismatches_id (id),
    UNIQUE KEY mismatches_open (open_scope),
    KEY mismatches_scope (kind, scope),
    KEY mismatches_state (state, seq),
    KEY mismatches_transaction (transaction_seq),
    KEY mismatches_run (run_seq)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS mismatch_changes (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    mismatch_seq BIGINT NOT NULL,
    at DATETIME(3) NOT NULL,
    state VARBINARY(16) NOT NULL,
    resolution VARBINARY(64) NULL,
    note TEXT NULL,
    actor VARBINARY(64) NOT NULL COMMENT 'a token''s id, command, or confere',
    KEY mismatch_changes_mismatch (mismatch_seq, seq)
  ) ENGINE=InnoDB`.execute(db);
}
