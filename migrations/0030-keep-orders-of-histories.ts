import { type Kysely, sql } from 'kysely';

/**
 * A history stands in the order of the provider's array, and inferred events give way to real ones. Histories that
 * versions before this one ordered by time, or in which an inferred event stands beside real ones, are listed here: the
 * watch mends them by the ledger's own corrections, and says so.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addColumn(
    db,
    'transactions',
    "ordered_at DATETIME(3) NULL COMMENT 'when the observation that orders its events was asked; NULL: a version kept none'",
  );
  await addColumn(
    db,
    'transactions',
    "reordered TINYINT NOT NULL DEFAULT 0 COMMENT '1: event_places has rows of its events'",
  );
  await sql`CREATE TABLE IF NOT EXISTS event_places (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    event_seq BIGINT NOT NULL,
    position INT NOT NULL COMMENT 'the newest row of an event counts; an event without any stands where it was first learnt; an inferred one with any is real',
    fact_change_seq BIGINT NOT NULL COMMENT 'of the change of facts, order, that it belongs to',
    KEY event_places_transaction (transaction_seq)
  ) ENGINE=InnoDB`.execute(db);
  // a row whose own status is not its newest event's: fetched again until two shows agree
  await sql`CREATE TABLE IF NOT EXISTS doubted_statuses (
    transaction_seq BIGINT NOT NULL PRIMARY KEY,
    transaction_id VARBINARY(64) NOT NULL,
    noticed_at DATETIME(3) NOT NULL COMMENT 'when the observation that first said so was asked',
    shown_without_at DATETIME(3) NULL COMMENT 'when the first show that said so was asked',
    due_at DATETIME(3) NULL COMMENT 'when it is to be shown next; NULL: told',
    KEY doubted_statuses_due (due_at),
    KEY doubted_statuses_transaction (transaction_id)
  ) ENGINE=InnoDB`.execute(db);
  await sql`CREATE TABLE IF NOT EXISTS histories_to_mend (
    transaction_seq BIGINT NOT NULL PRIMARY KEY,
    reason VARBINARY(16) NOT NULL COMMENT 'skewed: by array it is another order; inferred: beside real events; unknown: the order was not kept',
    mended_at DATETIME(3) NULL,
    outcome VARBINARY(16) NULL COMMENT 'mended, unchanged; asked: it is fetched again, for what was not stored',
    KEY histories_to_mend_left (mended_at, transaction_seq)
  ) ENGINE=InnoDB`.execute(db);
  await listHistories(db);
}

/** Each in one pass over the events; a transaction keeps the first reason that it is listed for. */
async function listHistories(db: Kysely<unknown>): Promise<void> {
  const list = (reason: string, transactions: ReturnType<typeof sql>) =>
    sql`
    INSERT INTO histories_to_mend (transaction_seq, reason)
    SELECT found.transaction_seq, ${sql.lit(reason)} FROM (${transactions}) AS found
    ON DUPLICATE KEY UPDATE reason = histories_to_mend.reason`.execute(db);
  // what stood in place of a real event kept that event out: its time was never stored. Of several without a real one
  // beside them, a history may have told too, by the same creation
  await list(
    'inferred',
    sql`SELECT transaction_seq FROM events GROUP BY transaction_seq HAVING SUM(inferred) > 1
      OR (SUM(inferred) > 0 AND SUM(inferred) < COUNT(*))`,
  );
  await list(
    'unknown',
    sql`SELECT DISTINCT transaction_seq FROM events WHERE inferred = 0
      GROUP BY transaction_seq, position HAVING COUNT(*) > 1`,
  );
  await list(
    'skewed',
    sql`SELECT DISTINCT earlier.transaction_seq FROM events earlier JOIN events later
      ON later.transaction_seq = earlier.transaction_seq AND later.position > earlier.position
      AND later.at_wall < earlier.at_wall
      WHERE earlier.inferred = 0 AND later.inferred = 0`,
  );
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function addColumn(db: Kysely<unknown>, table: string, definition: string): Promise<void> {
  const [name] = definition.split(' ');
  const found = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${name}`.execute(db);
  if (found.rows.length === 0) await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.raw(definition)}`.execute(db);
}
