import { type Kysely, sql } from 'kysely';

/** The revisions of each day's report, and their mails. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  // the cuts say up to which row of each table the report was made
  sql`CREATE TABLE IF NOT EXISTS reports (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    day DATE NOT NULL,
    revision INT NOT NULL,
    state VARBINARY(16) NOT NULL COMMENT 'partial, provisional, closed',
    made_at DATETIME(3) NOT NULL,
    proven TINYINT NOT NULL COMMENT '1: a run read the whole day after its end',
    proven_run_seq BIGINT NULL COMMENT 'the run that read the day, also while the day was not over',
    proven_asked_at DATETIME(3) NULL,
    digest BINARY(32) NOT NULL COMMENT 'SHA-256 of the canonical rows',
    sha256 BINARY(32) NOT NULL COMMENT 'of the xlsx file',
    files TEXT NOT NULL COMMENT 'JSON: format, name, bytes and SHA-256 of each',
    cut_entry_seq BIGINT NOT NULL,
    cut_event_seq BIGINT NOT NULL,
    cut_mismatch_change_seq BIGINT NOT NULL,
    checked_entry_seq BIGINT NOT NULL COMMENT 'the newest cut that is known to give the same rows',
    checked_event_seq BIGINT NOT NULL,
    locale VARBINARY(8) NOT NULL,
    full_documents TINYINT NOT NULL,
    version VARBINARY(32) NOT NULL COMMENT 'version of Confere that made it',
    cut_seal_position BIGINT NULL COMMENT 'NULL: made before the hash chain existed',
    redacted_at DATETIME(3) NULL COMMENT 'when the files were deleted, because a person was forgotten',
    cut_fact_change_seq BIGINT NOT NULL DEFAULT 0,
    checked_fact_change_seq BIGINT NOT NULL DEFAULT 0,
    cut_event_window BLOB NULL COMMENT 'one bit per event number up to the cut, for the newest numbers: 1 where the event was committed',
    checked_event_count INT NULL COMMENT 'number of events in the window at the last comparison of the rows',
    cut_seal_hash BINARY(32) NULL COMMENT 'hash of cut_seal_position when the report was made; NULL: made before the hash chain existed',
    UNIQUE KEY reports_day (day, revision)
  ) ENGINE=InnoDB`,

  // mails to send for new revisions
  sql`CREATE TABLE IF NOT EXISTS report_mails (
    report_seq BIGINT NOT NULL PRIMARY KEY,
    created_at DATETIME(3) NOT NULL,
    attempts INT NOT NULL DEFAULT 0,
    next_attempt_at DATETIME(3) NULL COMMENT 'NULL: sent, or given up',
    sent_at DATETIME(3) NULL,
    error VARBINARY(64) NULL,
    KEY report_mails_due (next_attempt_at)
  ) ENGINE=InnoDB`,
];
