import { type Kysely, sql } from 'kysely';

/** The revisions of each day's report. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS reports (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    day DATE NOT NULL,
    revision INT NOT NULL,
    state VARBINARY(16) NOT NULL COMMENT 'partial, provisional, closed',
    made_at DATETIME(3) NOT NULL,
    proven TINYINT NOT NULL,
    proven_run_seq BIGINT NULL,
    digest BINARY(32) NOT NULL COMMENT 'SHA-256 of the canonical rows',
    sha256 BINARY(32) NOT NULL COMMENT 'of the xlsx',
    cut_entry_seq BIGINT NOT NULL,
    cut_event_seq BIGINT NOT NULL,
    cut_mismatch_change_seq BIGINT NOT NULL,
    locale VARBINARY(8) NOT NULL,
    full_documents TINYINT NOT NULL,
    version VARBINARY(32) NOT NULL COMMENT 'of the program that made it',
    UNIQUE KEY reports_day (day, revision)
  ) ENGINE=InnoDB`.execute(db);
}
