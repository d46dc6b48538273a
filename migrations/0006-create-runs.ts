import { type Kysely, sql } from 'kysely';

/** Reconciliation runs, the windows of days that each reads, and the evidence of every page. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS runs (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    \`trigger\` VARBINARY(32) NOT NULL COMMENT 'a job''s name, api, command, gap',
    state VARBINARY(16) NOT NULL COMMENT 'queued, running, complete, incomplete, failed',
    from_day DATE NOT NULL,
    to_day DATE NOT NULL,
    platform VARBINARY(64) NULL,
    pages INT NOT NULL DEFAULT 0,
    passes INT NOT NULL DEFAULT 0,
    total INT NULL,
    seen INT NOT NULL DEFAULT 0,
    applied INT NOT NULL DEFAULT 0,
    created_at DATETIME(3) NOT NULL,
    created_by VARBINARY(64) NOT NULL,
    started_at DATETIME(3) NULL,
    finished_at DATETIME(3) NULL,
    error VARCHAR(1000) NULL,
    lease_holder VARBINARY(64) NULL,
    lease_until DATETIME(3) NULL,
    UNIQUE KEY runs_id (id),
    KEY runs_state (state, seq)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS run_windows (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    run_seq BIGINT NOT NULL,
    from_day DATE NOT NULL,
    to_day DATE NOT NULL,
    platform VARBINARY(64) NULL,
    state VARBINARY(16) NOT NULL COMMENT 'planned, complete, incomplete',
    pages INT NOT NULL DEFAULT 0,
    passes INT NOT NULL DEFAULT 0,
    total INT NULL,
    seen INT NOT NULL DEFAULT 0,
    applied INT NOT NULL DEFAULT 0,
    asked_at DATETIME(3) NULL COMMENT 'when the pass that proved it began',
    error VARCHAR(1000) NULL,
    UNIQUE KEY run_windows_run (run_seq, from_day),
    KEY run_windows_proof (state, from_day)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS run_pages (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    run_seq BIGINT NOT NULL,
    window_seq BIGINT NOT NULL,
    pass INT NOT NULL,
    page INT NOT NULL,
    total INT NOT NULL,
    row_count INT NOT NULL,
    body_hash BINARY(32) NOT NULL,
    ids_digest BINARY(32) NOT NULL,
    asked_at DATETIME(3) NOT NULL,
    KEY run_pages_window (window_seq, pass, page)
  ) ENGINE=InnoDB`.execute(db);
}
