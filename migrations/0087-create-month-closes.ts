import { type Kysely, sql } from 'kysely';

/**
 * The closing and the reopening of months, a row each. The newest row of a month says whether it is closed. A row that closes
 * has the cut of the month's files, and its balances at that cut.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS month_closes (
    seq BIGINT NOT NULL PRIMARY KEY COMMENT 'the number after the newest one: of two concurrent rows one is refused',
    month VARBINARY(7) NOT NULL,
    action VARBINARY(8) NOT NULL COMMENT 'close or reopen',
    at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    note VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    base_seq BIGINT NULL COMMENT 'the close of the month before: later changes of it are adjustments in this month',
    cut_seal_position BIGINT NULL COMMENT 'NULL: it reopens',
    cut_seal_hash BINARY(32) NULL,
    cut_entry_seq BIGINT NULL,
    cut_event_seq BIGINT NULL,
    cut_mismatch_change_seq BIGINT NULL,
    cut_fact_change_seq BIGINT NULL,
    cut_event_window BLOB NULL COMMENT 'as in reports',
    days MEDIUMTEXT NULL COMMENT 'JSON: each day with its state and its proof',
    balances MEDIUMTEXT NULL COMMENT 'JSON: each account, with the cents at the start and at the end of the month',
    digest BINARY(32) NULL COMMENT 'SHA-256 over the balances',
    full_documents TINYINT NULL,
    version VARBINARY(32) NULL,
    KEY month_closes_month (month, seq)
  ) ENGINE=InnoDB`.execute(db);
}
