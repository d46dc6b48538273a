import { type Kysely, sql } from 'kysely';

/**
 * Transactions and their append-only events. Identifiers are VARBINARY: they are compared byte by byte, and MariaDB and
 * MySQL share no text collation that does so. There are no foreign keys, because they lock parent rows that parallel
 * writers share. `doctor` checks the references instead.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  // Each index of the search ends in the wall clock that orders its pages, and InnoDB appends `seq`: a page is read from
  // its first row on, however many rows share a value.
  sql`CREATE TABLE IF NOT EXISTS transactions (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(64) NOT NULL,
    operation VARBINARY(8) NOT NULL,
    status VARBINARY(64) NOT NULL,
    status_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    sequence INT NOT NULL COMMENT 'sequence of the event that gives the status',
    event_count INT NOT NULL,
    amount_cents BIGINT NOT NULL,
    commission_cents BIGINT NULL,
    reference VARBINARY(512) NULL,
    extra VARBINARY(2048) NULL,
    extra_hash BINARY(32) NULL,
    platform VARBINARY(64) NULL,
    e2e_id VARBINARY(128) NULL,
    created_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    digest BINARY(32) NOT NULL COMMENT 'of the newest observation',
    asked_at DATETIME(3) NOT NULL COMMENT 'request time of the newest observation',
    first_seen_at DATETIME(3) NOT NULL,
    ordered_at DATETIME(3) NULL COMMENT 'request time of the observation that orders the events; NULL: stored by a version without it',
    reordered TINYINT NOT NULL DEFAULT 0 COMMENT '1: event_places has rows of its events',
    UNIQUE KEY transactions_id (id),
    KEY transactions_status (status, created_wall),
    KEY transactions_platform (platform, created_wall),
    KEY transactions_created_day (created_wall),
    KEY transactions_status_day (status_wall),
    KEY transactions_status_moved (status, status_wall),
    KEY transactions_operation (operation, created_wall),
    KEY transactions_amount (amount_cents, created_wall),
    KEY transactions_reference_day (reference, created_wall),
    KEY transactions_extra_day (extra_hash, created_wall),
    KEY transactions_e2e_day (e2e_id, created_wall)
  ) ENGINE=InnoDB`,

  // personal data, apart from the transaction, so that it can be erased
  sql`CREATE TABLE IF NOT EXISTS parties (
    transaction_seq BIGINT NOT NULL PRIMARY KEY,
    name VARBINARY(1024) NULL,
    email VARBINARY(1024) NULL,
    phone VARBINARY(256) NULL,
    document VARBINARY(256) NULL,
    pix_key VARBINARY(512) NULL,
    description VARBINARY(4096) NULL,
    document_hash BINARY(32) NULL COMMENT 'HMAC-SHA256 of the document, with the search key; stays when the person is forgotten',
    name_folded VARBINARY(128) NULL COMMENT 'without case and accents, truncated: for the search by prefix',
    created_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'copy of transactions.created_wall; NULL: not indexed yet',
    forgotten_at DATETIME(3) NULL,
    KEY parties_document (document_hash, created_wall),
    KEY parties_name (name_folded)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS events (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    status VARBINARY(64) NOT NULL,
    at_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    occurrence INT NOT NULL COMMENT 'number of equal events before this one in the history',
    position INT NOT NULL COMMENT 'position in the first history that had it, oldest 0; orders events of the same second',
    sequence INT NOT NULL COMMENT '1, 2, 3… in the order of arrival in the ledger',
    inferred TINYINT NOT NULL COMMENT '1: made from a status that the provider gave without a history',
    seen_at DATETIME(3) NOT NULL,
    source_kind VARBINARY(8) NOT NULL,
    source_webhook_seq BIGINT NULL,
    source_run_seq BIGINT NULL,
    source_page INT NULL,
    UNIQUE KEY events_identity (transaction_seq, status, at_wall, occurrence),
    UNIQUE KEY events_sequence (transaction_seq, sequence),
    KEY events_at (at_wall, transaction_seq)
  ) ENGINE=InnoDB`,

  // positions that a later observation changed; events is append-only
  sql`CREATE TABLE IF NOT EXISTS event_places (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    event_seq BIGINT NOT NULL,
    position INT NOT NULL COMMENT 'the newest row of an event counts; without any row, events.position counts; a row for an inferred event makes it real',
    fact_change_seq BIGINT NOT NULL COMMENT 'the fact change named order that it belongs to',
    KEY event_places_transaction (transaction_seq)
  ) ENGINE=InnoDB`,

  // whether an event is in force after a correction; events is append-only
  sql`CREATE TABLE IF NOT EXISTS event_standings (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    event_seq BIGINT NOT NULL,
    in_force TINYINT NOT NULL COMMENT 'the newest row of an event counts; an event without any row is in force',
    correction_seq BIGINT NOT NULL,
    KEY event_standings_transaction (transaction_seq),
    KEY event_standings_event (event_seq, seq)
  ) ENGINE=InnoDB`,

  // previous values of facts of a transaction, so that an earlier report revision can be shown again
  sql`CREATE TABLE IF NOT EXISTS fact_changes (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    name VARBINARY(16) NOT NULL COMMENT 'reference, extra, platform, e2e_id, operation, amount_cents, order; struck: sequences of events that are no longer valid',
    before_value VARBINARY(2048) NULL COMMENT 'the value before this change; NULL: unknown',
    at DATETIME(3) NOT NULL,
    source_kind VARBINARY(16) NULL COMMENT 'NULL: written by a version that did not store the source',
    source_webhook_seq BIGINT NULL,
    source_run_seq BIGINT NULL,
    source_page INT NULL,
    KEY fact_changes_transaction (transaction_seq, seq)
  ) ENGINE=InnoDB`,

  // rows of the provider that could not be read, stored raw
  sql`CREATE TABLE IF NOT EXISTS refused_rows (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_id VARBINARY(64) NULL,
    raw MEDIUMBLOB NOT NULL,
    hash BINARY(32) NOT NULL,
    reason VARCHAR(1000) NOT NULL,
    run_seq BIGINT NULL,
    page INT NULL,
    seen_at DATETIME(3) NOT NULL,
    UNIQUE KEY refused_rows_hash (hash)
  ) ENGINE=InnoDB`,
];
