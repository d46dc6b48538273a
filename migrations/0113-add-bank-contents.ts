import { type Kysely, sql } from 'kysely';

/**
 * The hash of what a line of the bank is, by which it is known again, and how the file spelled the account of a statement. A line
 * without a hash has its texts: `confere forget` makes it before they go (src/ledger/bank/statement/keep-contents.ts), since a migration has no
 * key. Lines whose texts went before are known by their FITID alone.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addColumn(
    db,
    'bank_line_texts',
    'content_hash',
    sql`BINARY(32) NULL
    COMMENT 'HMAC-SHA256 of day, amount and text, with the search key; stays when the text is erased'`,
  );
  await addColumn(
    db,
    'bank_statements',
    'spelled',
    sql`VARBINARY(100) NULL
    COMMENT 'the account as the file spells it, where a person named another'`,
  );
}

async function addColumn(
  db: Kysely<unknown>,
  table: string,
  column: string,
  type: ReturnType<typeof sql>,
): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${table} AND COLUMN_NAME = ${column}`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(column)} ${type}, ALGORITHM=INPLACE, LOCK=NONE`.execute(
      db,
    );
}
