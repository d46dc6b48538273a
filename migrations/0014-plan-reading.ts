import { type Kysely, sql } from 'kysely';

/**
 * What reading the provider sparingly needs: days proven by counts, how many requests a run made, runs that wait for
 * the provider, passes that are taken up where they stopped, one budget of requests, and when open transactions are
 * looked at again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addColumn(db, 'runs', 'how', "VARBINARY(8) NOT NULL DEFAULT 'read' COMMENT 'read, count, open'");
  await addColumn(db, 'runs', 'requests', "INT NOT NULL DEFAULT 0 COMMENT 'sent to the provider, repeats included'");
  await addColumn(db, 'runs', 'days_counted', "INT NOT NULL DEFAULT 0 COMMENT 'proven by counts'");
  await addColumn(db, 'runs', 'not_before', "DATETIME(3) NULL COMMENT 'the provider asked to be left alone'");
  await addColumn(db, 'run_pages', 'status', "VARBINARY(64) NULL COMMENT 'the filter of a count'");

  // only while a window is being read: who takes it up goes on with these pages
  await sql`CREATE TABLE IF NOT EXISTS run_page_rows (
    window_seq BIGINT NOT NULL,
    pass INT NOT NULL,
    page INT NOT NULL,
    place INT NOT NULL COMMENT 'in the order in which pages were asked for',
    query VARBINARY(128) NOT NULL COMMENT 'the dates that were asked for, and the platform',
    total INT NOT NULL,
    last_page INT NOT NULL,
    asked_at DATETIME(3) NOT NULL,
    page_rows MEDIUMBLOB NOT NULL COMMENT 'JSON: id, creation and digest of each row',
    PRIMARY KEY (window_seq, pass, page)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS provider_budget (
    name VARBINARY(32) NOT NULL PRIMARY KEY,
    tokens DOUBLE NOT NULL COMMENT 'requests that may be sent',
    filled_at DATETIME(6) NOT NULL
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS open_looks (
    transaction_seq BIGINT NOT NULL PRIMARY KEY,
    next_look_at DATETIME(3) NOT NULL,
    KEY open_looks_due (next_look_at)
  ) ENGINE=InnoDB`.execute(db);
}

/** ADD COLUMN IF NOT EXISTS is MariaDB's alone. */
async function addColumn(db: Kysely<unknown>, table: string, column: string, definition: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${column}`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(column)} ${sql.raw(definition)}`.execute(db);
}
