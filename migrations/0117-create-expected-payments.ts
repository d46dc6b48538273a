import { type Kysely, sql } from 'kysely';

/** Expected payments with their versions, their matches with transactions, and the work of the follower that decides them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
  await sql`INSERT INTO expected_following (id) VALUES (1) ON DUPLICATE KEY UPDATE id = id`.execute(db);
  for (const table of APPEND_ONLY) {
    for (const verb of ['update', 'delete']) await refuse(db, table, verb);
  }
}

/** Texts of people are in tables of their own, so that they can be erased. */
const APPEND_ONLY = [
  ...['expected_versions', 'expected_keys', 'expected_cancellations', 'expected_matches', 'expected_changes'],
];

const TABLES = [
  // the row that is locked: facts of the newest version, and what the follower decided last
  sql`CREATE TABLE IF NOT EXISTS expected_payments (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(35) NOT NULL COMMENT 'ep_ and 128 bits of the keyed hash of source and number',
    source VARBINARY(40) NOT NULL,
    number VARBINARY(480) NOT NULL,
    operation VARBINARY(16) NOT NULL,
    created_at DATETIME(3) NOT NULL,
    created_day DATE NOT NULL COMMENT 'the provider''s day on which the key first came',
    version INT NOT NULL,
    version_seq BIGINT NOT NULL,
    is_cancelled TINYINT NOT NULL DEFAULT 0,
    revised_at DATETIME(3) NULL COMMENT 'the newest instant that the source gave',
    amount_cents BIGINT NOT NULL,
    platform VARBINARY(64) NULL,
    issued_day DATE NOT NULL,
    due_day DATE NOT NULL,
    end_day DATE NOT NULL,
    extra_hash BINARY(32) NULL COMMENT 'keyed; stays when the text is erased',
    document_hash BINARY(32) NULL COMMENT 'keyed; stays when the text is erased',
    state VARBINARY(20) NOT NULL,
    reason_code VARBINARY(32) NULL,
    state_at DATETIME(3) NOT NULL,
    sequence INT NOT NULL DEFAULT 0 COMMENT 'of the newest row of expected_changes',
    settled_cents BIGINT NOT NULL DEFAULT 0,
    returned_cents BIGINT NOT NULL DEFAULT 0,
    parts_settled INT NOT NULL DEFAULT 0,
    paid_day DATE NULL COMMENT 'the day on which the amount was reached',
    first_lack DATE NULL COMMENT 'the first day that is not proven, of not_proven',
    last_lack DATE NULL,
    lacks INT NOT NULL DEFAULT 0 COMMENT 'how many days are not proven',
    look_at DATETIME(3) NULL COMMENT 'when time alone may change the state',
    UNIQUE KEY expected_payments_id (id),
    UNIQUE KEY expected_payments_version (version_seq),
    KEY expected_payments_number (number),
    KEY expected_payments_state (state, seq),
    KEY expected_payments_due (due_day, seq),
    KEY expected_payments_extra (extra_hash),
    KEY expected_payments_document (document_hash, amount_cents),
    KEY expected_payments_lack (last_lack, first_lack),
    KEY expected_payments_look (look_at)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS expected_versions (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    expected_id VARBINARY(35) NOT NULL,
    version INT NOT NULL,
    facts_hash BINARY(32) NOT NULL COMMENT 'keyed, of all facts as given: an equal arrival changes nothing',
    amount_cents BIGINT NOT NULL,
    platform VARBINARY(64) NULL,
    issued_day DATE NULL COMMENT 'as given',
    due_day DATE NOT NULL,
    valid_until DATE NULL,
    invoice_key VARBINARY(44) NULL,
    extra_hash BINARY(32) NULL,
    document_hash BINARY(32) NULL,
    revised_at DATETIME(3) NULL,
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY expected_versions_version (expected_id, version),
    KEY expected_versions_document (document_hash)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS expected_texts (
    version_seq BIGINT NOT NULL PRIMARY KEY,
    document VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    description VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    extra VARBINARY(2048) NULL
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS expected_keys (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    version_seq BIGINT NOT NULL,
    kind VARBINARY(16) NOT NULL COMMENT 'reference, e2e_id',
    value VARBINARY(512) NOT NULL,
    KEY expected_keys_version (version_seq),
    KEY expected_keys_value (value)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS expected_cancellations (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    expected_seq BIGINT NOT NULL,
    is_cancelled TINYINT NOT NULL COMMENT '0: reopened',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL
  ) ENGINE=InnoDB`,

  // a match stands until a row undoes it
  sql`CREATE TABLE IF NOT EXISTS expected_matches (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    expected_seq BIGINT NOT NULL,
    transaction_seq BIGINT NOT NULL,
    part INT NULL COMMENT 'of the transaction, from 1; NULL: this row undoes a match',
    amount_cents BIGINT NOT NULL,
    rule VARBINARY(16) NOT NULL COMMENT 'person, reference, e2e_id, extra, document; undo',
    undoes_seq BIGINT NULL,
    reason VARBINARY(32) NULL COMMENT 'why it was undone: person, or what changed',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY expected_matches_part (transaction_seq, part),
    UNIQUE KEY expected_matches_undoes (undoes_seq),
    KEY expected_matches_expected (expected_seq)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS expected_notes (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    match_seq BIGINT NULL,
    cancellation_seq BIGINT NULL,
    note VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    KEY expected_notes_match (match_seq)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS expected_changes (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    expected_seq BIGINT NOT NULL,
    sequence INT NOT NULL COMMENT 'of the expected payment, from 1',
    version INT NOT NULL,
    state VARBINARY(20) NOT NULL,
    reason_code VARBINARY(32) NULL,
    settled_cents BIGINT NOT NULL,
    returned_cents BIGINT NOT NULL,
    parts_settled INT NOT NULL,
    at DATETIME(3) NOT NULL,
    UNIQUE KEY expected_changes_sequence (expected_seq, sequence)
  ) ENGINE=InnoDB`,

  // derived: which pairs a person may choose, and the edges by which a change reaches its neighbours
  sql`CREATE TABLE IF NOT EXISTS expected_candidates (
    expected_seq BIGINT NOT NULL,
    transaction_seq BIGINT NOT NULL,
    rule VARBINARY(16) NOT NULL,
    reason VARBINARY(32) NOT NULL,
    PRIMARY KEY (expected_seq, transaction_seq),
    KEY expected_candidates_transaction (transaction_seq)
  ) ENGINE=InnoDB`,

  // work for the follower, written in the transaction of what changed; deleted once decided
  sql`CREATE TABLE IF NOT EXISTS expected_work (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NULL,
    expected_seq BIGINT NULL,
    from_day DATE NULL COMMENT 'days that were proven',
    to_day DATE NULL,
    created_at DATETIME(3) NOT NULL,
    due_at DATETIME(3) NOT NULL COMMENT 'later than created_at: it failed and is tried again',
    KEY expected_work_due (due_at),
    KEY expected_work_expected (expected_seq)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS expected_following (
    id TINYINT NOT NULL PRIMARY KEY,
    holder VARBINARY(64) NULL,
    lease_until DATETIME(3) NULL
  ) ENGINE=InnoDB`,
];

/** The errors of a server that does not allow triggers: see 0013-baseline-append-only.ts. */
const NOT_ALLOWED_ERRNOS = new Set([1419, 1142, 1227, 1044]);

async function refuse(db: Kysely<unknown>, table: string, verb: string): Promise<void> {
  const name = `${table}_no_${verb}`;
  const { rows } = await sql`SELECT 1 FROM information_schema.triggers
    WHERE trigger_schema = DATABASE() AND trigger_name = ${name}`.execute(db);
  if (rows.length > 0) return;
  try {
    await sql`CREATE TRIGGER ${sql.id(name)} BEFORE ${sql.raw(verb.toUpperCase())} ON ${sql.table(table)}
      FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = ${sql.lit(`${table} is append-only`)}`.execute(db);
  } catch (error) {
    if (!NOT_ALLOWED_ERRNOS.has((error as { errno?: number }).errno ?? 0)) throw error;
  }
}
