import { type Kysely, sql } from 'kysely';

/**
 * Columns that keep the orders a revision, or a closed month, shows: NULL shows none, as in those of before. Orders are found by the day on which
 * their state changed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const cut = `MEDIUMTEXT NULL COMMENT 'JSON: how far the history of orders is shown; NULL: not at all'`;
  await add(db, 'reports', 'cut_orders', cut);
  await add(db, 'reports', 'orders_digest', `BINARY(32) NULL COMMENT 'SHA-256 over whose the receipts are'`);
  await add(db, 'reports', 'checked_match_seq', `BIGINT NULL COMMENT 'of expected_matches: compared up to here'`);
  await add(db, 'month_closes', 'cut_orders', cut);
  const { rows } = await sql`SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE()
    AND table_name = 'expected_changes' AND index_name = 'expected_changes_at' LIMIT 1`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE expected_changes ADD KEY expected_changes_at (at), ALGORITHM=INPLACE, LOCK=NONE`.execute(db);
}

async function add(db: Kysely<unknown>, table: string, column: string, type: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${column}`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.id(column)} ${sql.raw(type)}, ALGORITHM=INPLACE, LOCK=NONE`.execute(
    db,
  );
}
