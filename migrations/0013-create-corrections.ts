import { type Kysely, sql } from 'kysely';

/**
 * What people corrected, what the provider no longer shows, what it may charge, and which mismatches share an alert.
 * Tables of their own: events, entries and postings are only ever appended to.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS corrections (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    mismatch_seq BIGINT NOT NULL COMMENT 'which was accepted',
    sequence INT NOT NULL COMMENT 'counted with the transaction''s events',
    before_facts TEXT NOT NULL COMMENT 'JSON',
    after_facts TEXT NOT NULL COMMENT 'JSON',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY corrections_sequence (transaction_seq, sequence),
    KEY corrections_mismatch (mismatch_seq)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS event_standings (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    event_seq BIGINT NOT NULL,
    in_force TINYINT NOT NULL COMMENT 'the newest row of an event tells; an event without any is in force',
    correction_seq BIGINT NOT NULL,
    KEY event_standings_transaction (transaction_seq),
    KEY event_standings_event (event_seq, seq)
  ) ENGINE=InnoDB`.execute(db);

  // an event of ours that a look lacked: asked for again until two shows agree
  await sql`CREATE TABLE IF NOT EXISTS doubted_events (
    event_seq BIGINT NOT NULL PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    transaction_id VARBINARY(64) NOT NULL,
    noticed_at DATETIME(3) NOT NULL COMMENT 'when the look that first lacked it was asked',
    shown_without_at DATETIME(3) NULL COMMENT 'when the first show that lacked it was asked',
    due_at DATETIME(3) NULL COMMENT 'when it is to be shown next; NULL: told',
    KEY doubted_events_due (due_at),
    KEY doubted_events_transaction (transaction_id)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS commission_contracts (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    platform VARBINARY(64) NULL COMMENT 'NULL: every platform that has none of its own',
    operation VARBINARY(8) NOT NULL,
    fixed_cents BIGINT NOT NULL,
    basis_points INT NOT NULL,
    from_day DATE NOT NULL,
    to_day DATE NULL COMMENT 'the last day; NULL: until another is stated',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    withdrawn_at DATETIME(3) NULL,
    UNIQUE KEY commission_contracts_id (id)
  ) ENGINE=InnoDB`.execute(db);

  // mismatches of one root cause share one alert
  await sql`CREATE TABLE IF NOT EXISTS mismatch_causes (
    mismatch_seq BIGINT NOT NULL PRIMARY KEY,
    alert_name VARBINARY(64) NOT NULL,
    alert_scope VARBINARY(160) NOT NULL,
    KEY mismatch_causes_alert (alert_name, alert_scope)
  ) ENGINE=InnoDB`.execute(db);
}
