import { type Kysely, sql } from 'kysely';

/** Columns for callbacks of orders: the content of a change's callback, its matches as of then, and how far a backfill has read the orders. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await add(
    db,
    'expected_changes',
    'content_hash',
    `BINARY(32) NULL COMMENT 'keyed digest of what its callbacks say; NULL: it has none'`,
  );
  await add(
    db,
    'expected_changes',
    'last_match_seq',
    `BIGINT NULL COMMENT 'of its matches and undoings, the newest as of the change'`,
  );
  await add(
    db,
    'backfills',
    'expected_seq',
    `BIGINT NOT NULL DEFAULT 0 COMMENT 'expected payments up to this one are done'`,
  );
}

async function add(db: Kysely<unknown>, table: string, column: string, type: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${column}`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.id(column)} ${sql.raw(type)}, ALGORITHM=INPLACE, LOCK=NONE`.execute(
    db,
  );
}
