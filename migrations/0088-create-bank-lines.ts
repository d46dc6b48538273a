import { type Kysely, sql } from 'kysely';

/** The statements of the company's bank account, their lines, and which entries of the ledger these are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
  await addIndex(db);
  for (const table of APPEND_ONLY) {
    for (const verb of ['update', 'delete']) await refuse(db, table, verb);
  }
}

/** What people and the bank wrote as text is in tables of its own, so that it can be erased. */
const APPEND_ONLY = ['bank_statements', 'bank_lines', 'bank_matches'];

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS bank_statements (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    sha256 BINARY(32) NOT NULL COMMENT 'of the file',
    position INT NOT NULL COMMENT 'of the statement in the file, from 0',
    account VARBINARY(100) NOT NULL COMMENT 'bank, branch and number, with / between',
    from_day DATE NULL,
    to_day DATE NULL,
    balance_cents BIGINT NULL COMMENT 'LEDGERBAL',
    balance_day DATE NULL,
    line_count INT NOT NULL COMMENT 'in the file, also those that were imported before',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY bank_statements_file (sha256, position),
    KEY bank_statements_account (account, balance_day)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS bank_lines (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    statement_seq BIGINT NOT NULL COMMENT 'the first one that had it',
    account VARBINARY(100) NOT NULL,
    fitid_hash BINARY(32) NOT NULL COMMENT 'HMAC-SHA256 of FITID, with the search key; stays when the text is erased',
    day DATE NOT NULL,
    amount_cents BIGINT NOT NULL COMMENT 'positive: it came into the bank account',
    type VARBINARY(128) NOT NULL COMMENT 'TRNTYPE',
    UNIQUE KEY bank_lines_identity (account, fitid_hash),
    KEY bank_lines_amount (amount_cents, day),
    KEY bank_lines_day (day)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS bank_line_texts (
    line_seq BIGINT NOT NULL PRIMARY KEY,
    fitid VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    memo VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    check_number VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    reference_number VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL
  ) ENGINE=InnoDB`,

  // a match stands until a row undoes it, or its entry is reversed
  sql`CREATE TABLE IF NOT EXISTS bank_matches (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    line_seq BIGINT NOT NULL,
    entry_seq BIGINT NOT NULL,
    rule VARBINARY(16) NOT NULL COMMENT 'reference, amount, person; undo',
    undoes_seq BIGINT NULL COMMENT 'the match that this row undoes',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    UNIQUE KEY bank_matches_undoes (undoes_seq),
    KEY bank_matches_line (line_seq),
    KEY bank_matches_entry (entry_seq)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS bank_match_notes (
    match_seq BIGINT NOT NULL PRIMARY KEY,
    note VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL
  ) ENGINE=InnoDB`,
];

/** A match finds its adjustment by the entry. */
async function addIndex(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.STATISTICS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'adjustments' AND INDEX_NAME = 'adjustments_entry'`.execute(db);
  if (rows.length === 0) await sql`CREATE INDEX adjustments_entry ON adjustments (entry_seq)`.execute(db);
}

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
