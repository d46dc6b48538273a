import { type Kysely, sql } from 'kysely';

/** Merchants, and the outbox of their callbacks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS merchants (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    name VARCHAR(200) NOT NULL,
    url VARCHAR(2048) NOT NULL,
    email VARCHAR(320) NULL,
    state VARBINARY(16) NOT NULL DEFAULT 'enabled' COMMENT 'enabled, paused, disabled',
    disabled_reason VARCHAR(500) NULL,
    filter MEDIUMTEXT NOT NULL COMMENT 'JSON',
    rate INT NULL COMMENT 'callbacks per second at most',
    rate_next_at DATETIME(3) NULL COMMENT 'the rate is used up until this time; shared by all replicas',
    events_since DATETIME(3) NOT NULL,
    failures INT NOT NULL DEFAULT 0 COMMENT 'failed attempts in a row',
    failing_since DATETIME(3) NULL COMMENT 'the first failed attempt in a row; NULL: the last attempt succeeded',
    breaker_opened_at DATETIME(3) NULL,
    probe_at DATETIME(3) NULL COMMENT 'time of the next attempt with one held callback',
    warned_at DATETIME(3) NULL,
    last_position BIGINT NOT NULL DEFAULT 0 COMMENT 'the highest assigned callbacks.position',
    pull_token_hash BINARY(32) NULL,
    created_at DATETIME(3) NOT NULL,
    deleted_at DATETIME(3) NULL,
    recovered_at DATETIME(3) NULL COMMENT 'the merchant recovered and ops are not notified yet',
    UNIQUE KEY merchants_id (id),
    UNIQUE KEY merchants_pull_token (pull_token_hash)
  ) ENGINE=InnoDB`,

  // signing secrets, encrypted with SECRET_KEY
  sql`CREATE TABLE IF NOT EXISTS merchant_secrets (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    merchant_seq BIGINT NOT NULL,
    ciphertext BLOB NOT NULL,
    created_at DATETIME(3) NOT NULL,
    expires_at DATETIME(3) NULL,
    key_id VARBINARY(16) NULL COMMENT 'id of the SECRET_KEY that encrypts it',
    KEY merchant_secrets_merchant (merchant_seq)
  ) ENGINE=InnoDB`,

  // without a payload: each attempt renders it from the ledger, so personal data is stored in one place only
  sql`CREATE TABLE IF NOT EXISTS callbacks (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    webhook_id VARBINARY(64) NOT NULL COMMENT 'the header webhook-id: derived, the same on every attempt',
    merchant_seq BIGINT NOT NULL,
    transaction_seq BIGINT NULL COMMENT 'NULL: a test callback',
    event_seq BIGINT NULL,
    sequence INT NOT NULL DEFAULT 0,
    type VARBINARY(128) NOT NULL,
    previous_status VARBINARY(64) NULL,
    source VARBINARY(16) NOT NULL COMMENT 'webhook, reconciliation, test',
    state VARBINARY(16) NOT NULL COMMENT 'pending, held, delivered, failed',
    attempts INT NOT NULL DEFAULT 0,
    step INT NOT NULL DEFAULT 0 COMMENT 'number of steps of the retry schedule that are used',
    first_failed_at DATETIME(3) NULL COMMENT 'first failure since the state last became pending',
    next_attempt_at DATETIME(3) NULL COMMENT 'pending: the due time; in flight: lease_until; held: created_at',
    lease_holder VARBINARY(64) NULL,
    lease_until DATETIME(3) NULL,
    position BIGINT NULL COMMENT 'position in the merchant''s feed, assigned after commit',
    created_at DATETIME(3) NOT NULL,
    delivered_at DATETIME(3) NULL,
    UNIQUE KEY callbacks_webhook_id (webhook_id),
    KEY callbacks_due (merchant_seq, state, next_attempt_at),
    KEY callbacks_state (state),
    KEY callbacks_order (transaction_seq, merchant_seq, sequence),
    KEY callbacks_feed (merchant_seq, position),
    KEY callbacks_created (merchant_seq, created_at)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS callback_attempts (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    callback_seq BIGINT NOT NULL,
    number INT NOT NULL,
    started_at DATETIME(3) NOT NULL,
    duration_ms INT NOT NULL,
    response_status INT NULL,
    error_class VARBINARY(32) NULL,
    response_body BLOB NULL COMMENT 'the first 4 KiB',
    request_headers TEXT NOT NULL COMMENT 'JSON, without signatures',
    KEY callback_attempts_callback (callback_seq, number)
  ) ENGINE=InnoDB`,
];
