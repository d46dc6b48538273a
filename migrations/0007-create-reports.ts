import { type Kysely, sql } from 'kysely';

/** The revisions of each day's report. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS reports (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    day DATE NOT NULL,
    revision INT NOT NULL,
    state VARBINARY(16) NOT NULL COMMENT 'partial, provisional, closed',
    made_at DATETIME(3) NOT NULL,
    proven TINYINT NOT NULL COMMENT 'read in full at the provider after its end',
    proven_run_seq BIGINT NULL COMMENT 'the run that read it, also while the day was running',
    proven_asked_at DATETIME(3) NULL,
    digest BINARY(32) NOT NULL COMMENT 'SHA-256 of the canonical rows',
    sha256 BINARY(32) NOT NULL COMMENT 'of the xlsx',
    files TEXT NOT NULL COMMENT 'JSON: format, name, bytes and SHA-256 of each',
    cut_entry_seq BIGINT NOT NULL,
    cut_event_seq BIGINT NOT NULL,
    cut_mismatch_change_seq BIGINT NOT NULL,
    checked_entry_seq BIGINT NOT NULL COMMENT 'the newest cut that was found to have the same rows',
    checked_event_seq BIGINT NOT NULL,
    locale VARBINARY(8) NOT NULL,
    full_documents TINYINT NOT NULL,
    version VARBINARY(32) NOT NULL COMMENT 'of the program that made it',
    UNIQUE KEY reports_day (day, revision)
  ) ENGINE=InnoDB`.execute(db);
}
