import { type Kysely, sql } from 'kysely';

/**
 * What a revision showed can be shown again: a mismatch's evidence as of each change of it, and the facts of a
 * transaction from before they were filled in. And the mails that are owed for revisions.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of [
    "opened_at DATETIME(3) NULL COMMENT 'NULL: this change is from before evidence was kept here'",
    'expected MEDIUMTEXT NULL',
    'actual MEDIUMTEXT NULL',
    'amount_cents BIGINT NULL',
    'run_seq BIGINT NULL',
  ]) {
    await addColumn(db, 'mismatch_changes', column);
  }

  await sql`CREATE TABLE IF NOT EXISTS fact_changes (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transaction_seq BIGINT NOT NULL,
    name VARBINARY(16) NOT NULL COMMENT 'reference, extra, platform, e2e_id, operation, amount_cents; struck: numbers of events that are no more',
    before_value VARBINARY(2048) NULL COMMENT 'what it was until now; what is unknown at first is NULL',
    at DATETIME(3) NOT NULL,
    KEY fact_changes_transaction (transaction_seq, seq)
  ) ENGINE=InnoDB`.execute(db);
  await addColumn(db, 'reports', 'cut_fact_change_seq BIGINT NOT NULL DEFAULT 0');
  await addColumn(db, 'reports', 'checked_fact_change_seq BIGINT NOT NULL DEFAULT 0');

  await sql`CREATE TABLE IF NOT EXISTS report_mails (
    report_seq BIGINT NOT NULL PRIMARY KEY,
    created_at DATETIME(3) NOT NULL,
    attempts INT NOT NULL DEFAULT 0,
    next_attempt_at DATETIME(3) NULL COMMENT 'NULL: sent, or given up',
    sent_at DATETIME(3) NULL,
    error VARBINARY(64) NULL,
    KEY report_mails_due (next_attempt_at)
  ) ENGINE=InnoDB`.execute(db);
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function addColumn(db: Kysely<unknown>, table: string, definition: string): Promise<void> {
  const [name] = definition.split(' ');
  const found = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${name}`.execute(db);
  if (found.rows.length === 0) await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.raw(definition)}`.execute(db);
}
