import { type Kysely, sql } from 'kysely';

/** Reconciliation runs, the days that each reads, the evidence of every page, and the shared request budget. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS runs (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    \`trigger\` VARBINARY(32) NOT NULL COMMENT 'name of a job, api, command, gap',
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
    how VARBINARY(8) NOT NULL DEFAULT 'read' COMMENT 'read, count, open',
    requests INT NOT NULL DEFAULT 0 COMMENT 'number of requests to the provider, with repeats',
    days_counted INT NOT NULL DEFAULT 0 COMMENT 'days proven by counts',
    not_before DATETIME(3) NULL COMMENT 'the provider asked for a pause until this time',
    UNIQUE KEY runs_id (id),
    KEY runs_state (state, seq)
  ) ENGINE=InnoDB`,

  // a range of days that a run reads to the end
  sql`CREATE TABLE IF NOT EXISTS run_windows (
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
    asked_at DATETIME(3) NULL COMMENT 'start of the pass that proved the window',
    error VARCHAR(1000) NULL,
    surplus INT NOT NULL DEFAULT 0 COMMENT 'announced rows beyond the listed ones, equal in all passes',
    UNIQUE KEY run_windows_run (run_seq, from_day),
    KEY run_windows_proof (state, from_day)
  ) ENGINE=InnoDB`,

  // evidence of each page
  sql`CREATE TABLE IF NOT EXISTS run_pages (
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
    status VARBINARY(64) NULL COMMENT 'the status filter of a count',
    KEY run_pages_window (window_seq, pass, page)
  ) ENGINE=InnoDB`,

  // pages of a window that is being read, so that the next holder of the lease continues with them
  sql`CREATE TABLE IF NOT EXISTS run_page_rows (
    window_seq BIGINT NOT NULL,
    pass INT NOT NULL,
    page INT NOT NULL,
    place INT NOT NULL COMMENT 'position in the order of the requests',
    query VARBINARY(128) NOT NULL COMMENT 'the requested dates and platform',
    total INT NOT NULL,
    last_page INT NOT NULL,
    asked_at DATETIME(3) NOT NULL,
    page_rows MEDIUMBLOB NOT NULL COMMENT 'JSON: id, creation and digest of each row',
    PRIMARY KEY (window_seq, pass, page)
  ) ENGINE=InnoDB`,

  // the run that reads a day: never two at once. Valid while the lease of the run is
  sql`CREATE TABLE IF NOT EXISTS run_days (
    day DATE NOT NULL PRIMARY KEY,
    run_seq BIGINT NOT NULL,
    holder VARBINARY(64) NOT NULL COMMENT 'runs.lease_holder when the day was taken'
  ) ENGINE=InnoDB`,

  // one token bucket for the requests of all replicas
  sql`CREATE TABLE IF NOT EXISTS provider_budget (
    name VARBINARY(32) NOT NULL PRIMARY KEY,
    tokens DOUBLE NOT NULL COMMENT 'requests that may be sent now',
    filled_at DATETIME(6) NOT NULL
  ) ENGINE=InnoDB`,

  // when each open transaction is fetched again
  sql`CREATE TABLE IF NOT EXISTS open_looks (
    transaction_seq BIGINT NOT NULL PRIMARY KEY,
    next_look_at DATETIME(3) NOT NULL,
    KEY open_looks_due (next_look_at)
  ) ENGINE=InnoDB`,

  // announced totals above the listed rows that a person accepted
  sql`CREATE TABLE IF NOT EXISTS accepted_surpluses (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    day DATE NOT NULL,
    platform VARBINARY(64) NULL,
    surplus INT NOT NULL,
    mismatch_seq BIGINT NOT NULL,
    actor VARBINARY(64) NOT NULL,
    created_at DATETIME(3) NOT NULL,
    KEY accepted_surpluses_day (day)
  ) ENGINE=InnoDB`,
];
