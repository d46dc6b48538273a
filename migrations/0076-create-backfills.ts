import { type Kysely, sql } from 'kysely';

/** Callbacks of events that the ledger knew before a merchant, or before its filter wanted them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS backfills (
    merchant_seq BIGINT NOT NULL PRIMARY KEY,
    state VARBINARY(16) NOT NULL COMMENT 'waiting (for earlier writers), running, sending, done',
    events_since DATETIME(3) NOT NULL,
    cursor_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the last event that was read, by its time and its transaction',
    cursor_seq BIGINT NOT NULL,
    transactions BIGINT NOT NULL DEFAULT 0,
    enqueued BIGINT NOT NULL DEFAULT 0,
    started_at DATETIME(3) NOT NULL,
    updated_at DATETIME(3) NOT NULL,
    finished_at DATETIME(3) NULL,
    KEY backfills_state (state, updated_at)
  ) ENGINE=InnoDB`.execute(db);
}
