import { type Kysely, sql } from 'kysely';

/** From which day on receipts must be somebody's, how far they were searched; names to search by; the sources of a merchant's token. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS expected_starts (
    platform VARBINARY(64) NOT NULL PRIMARY KEY COMMENT 'none: of expected payments that name none',
    since_day DATE NOT NULL COMMENT 'the first day of issue',
    arrived_at DATETIME(3) NOT NULL COMMENT 'when the first of them came'
  ) ENGINE=InnoDB`.execute(db);
  await add(
    db,
    'expected_following',
    'receipts_wall',
    `CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'payments up to this event were searched'`,
  );
  await add(db, 'expected_following', 'receipts_seq', 'BIGINT NOT NULL DEFAULT 0');
  await add(
    db,
    'tokens',
    'sources',
    `VARBINARY(1000) NULL COMMENT 'of expected payments, between blanks: of a merchant alone'`,
  );
  await add(
    db,
    'expected_texts',
    'name_folded',
    `VARBINARY(128) NULL COMMENT 'as that of parties: for the search by prefix'`,
  );
  await index(db, 'expected_texts', 'name', 'name_folded');
  await index(db, 'expected_payments', 'platform', 'operation, platform, issued_day');
  await index(db, 'expected_cancellations', 'expected', 'expected_seq, seq');
}

async function index(db: Kysely<unknown>, table: string, name: string, columns: string): Promise<void> {
  const key = `${table}_${name}`;
  const { rows } = await sql`SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE()
    AND table_name = ${table} AND index_name = ${key} LIMIT 1`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE ${sql.table(table)} ADD KEY ${sql.id(key)} (${sql.raw(columns)}), ALGORITHM=INPLACE, LOCK=NONE`.execute(
    db,
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
