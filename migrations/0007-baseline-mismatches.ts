import { type Kysely, sql } from 'kysely';

/**
 * Differences between the ledger and the provider, how people resolved them, and the evidence that is still being
 * collected.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS mismatches (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    kind VARBINARY(32) NOT NULL,
    severity VARBINARY(16) NOT NULL,
    state VARBINARY(16) NOT NULL,
    scope VARBINARY(160) NOT NULL,
    open_scope VARBINARY(200) NULL COMMENT 'kind and scope until resolved; unique among open mismatches',
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
    kept_scope VARBINARY(200) NULL COMMENT 'kind and scope of a manual resolution, until fresh evidence shows that the mismatch is over',
    UNIQUE KEY mismatches_id (id),
    UNIQUE KEY mismatches_open (open_scope),
    KEY mismatches_scope (kind, scope),
    KEY mismatches_state (state, seq),
    KEY mismatches_transaction (transaction_seq),
    KEY mismatches_run (run_seq),
    KEY mismatches_kept (kept_scope)
  ) ENGINE=InnoDB`,

  // every state of a mismatch with its evidence, so that an earlier report revision can be shown again
  sql`CREATE TABLE IF NOT EXISTS mismatch_changes (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    mismatch_seq BIGINT NOT NULL,
    at DATETIME(3) NOT NULL,
    state VARBINARY(16) NOT NULL,
    resolution VARBINARY(64) NULL,
    note TEXT NULL,
    actor VARBINARY(64) NOT NULL COMMENT 'id of a token, command, or confere',
    opened_at DATETIME(3) NULL COMMENT 'NULL: written by a version that did not store evidence here',
    expected MEDIUMTEXT NULL,
    actual MEDIUMTEXT NULL,
    amount_cents BIGINT NULL,
    run_seq BIGINT NULL,
    KEY mismatch_changes_mismatch (mismatch_seq, seq)
  ) ENGINE=InnoDB`,

  // mismatches of one root cause share one alert
  sql`CREATE TABLE IF NOT EXISTS mismatch_causes (
    mismatch_seq BIGINT NOT NULL PRIMARY KEY,
    alert_name VARBINARY(64) NOT NULL,
    alert_scope VARBINARY(160) NOT NULL,
    KEY mismatch_causes_alert (alert_name, alert_scope)
  ) ENGINE=InnoDB`,

  // facts that a person corrected by accepting a mismatch
  sql`CREATE TABLE IF NOT EXISTS corrections (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    mismatch_seq BIGINT NOT NULL COMMENT 'the mismatch that a person accepted',
    sequence INT NOT NULL COMMENT 'in one sequence with the events of the transaction',
    before_facts TEXT NOT NULL COMMENT 'JSON',
    after_facts TEXT NOT NULL COMMENT 'JSON',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY corrections_sequence (transaction_seq, sequence),
    KEY corrections_mismatch (mismatch_seq)
  ) ENGINE=InnoDB`,

  // events of the ledger that an observation lacked: fetched again until two fetches agree
  sql`CREATE TABLE IF NOT EXISTS doubted_events (
    event_seq BIGINT NOT NULL PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    transaction_id VARBINARY(64) NOT NULL,
    noticed_at DATETIME(3) NOT NULL COMMENT 'request time of the first observation without the event',
    shown_without_at DATETIME(3) NULL COMMENT 'request time of the first fetch by id without the event',
    due_at DATETIME(3) NULL COMMENT 'time of the next fetch by id; NULL: reported as a mismatch',
    told TINYINT NOT NULL DEFAULT 0 COMMENT '1: two fetches agreed that the event is missing, and no later one contradicted them',
    KEY doubted_events_due (due_at),
    KEY doubted_events_transaction (transaction_id)
  ) ENGINE=InnoDB`,

  // transactions whose status is not the status of their newest event: fetched again until two fetches agree
  sql`CREATE TABLE IF NOT EXISTS doubted_statuses (
    transaction_seq BIGINT NOT NULL PRIMARY KEY,
    transaction_id VARBINARY(64) NOT NULL,
    noticed_at DATETIME(3) NOT NULL COMMENT 'request time of the first observation with this conflict',
    shown_without_at DATETIME(3) NULL COMMENT 'request time of the first fetch by id with this conflict',
    due_at DATETIME(3) NULL COMMENT 'time of the next fetch by id; NULL: reported as a mismatch',
    told TINYINT NOT NULL DEFAULT 0 COMMENT '1: two fetches agreed on the conflict, and no later one contradicted them',
    KEY doubted_statuses_due (due_at),
    KEY doubted_statuses_transaction (transaction_id)
  ) ENGINE=InnoDB`,

  // expected webhooks: a change that the provider must announce; settled when the webhook arrives or is lost
  sql`CREATE TABLE IF NOT EXISTS owed_webhooks (
    event_seq BIGINT NOT NULL PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    event_at DATETIME(3) NOT NULL,
    due_at DATETIME(3) NOT NULL COMMENT 'time of the event + WEBHOOK_GRACE',
    run_seq BIGINT NULL,
    settled_at DATETIME(3) NULL,
    announced_at DATETIME(3) NULL,
    KEY owed_webhooks_due (settled_at, due_at),
    KEY owed_webhooks_event_at (event_at)
  ) ENGINE=InnoDB`,

  // Histories that an earlier version stored differently: `serve` and `confere migrate` correct them. No row in a new
  // database.
  sql`CREATE TABLE IF NOT EXISTS histories_to_mend (
    transaction_seq BIGINT NOT NULL PRIMARY KEY,
    reason VARBINARY(16) NOT NULL COMMENT 'skewed: another order than in the provider''s array; inferred: an inferred event beside real ones; unknown: the order was not stored; dated: an entry of an inferred event with a wrong date',
    mended_at DATETIME(3) NULL,
    outcome VARBINARY(16) NULL COMMENT 'mended, unchanged; asked: the transaction is fetched again, because something was not stored',
    KEY histories_to_mend_left (mended_at, transaction_seq)
  ) ENGINE=InnoDB`,
];
