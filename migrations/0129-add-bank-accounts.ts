import { type Kysely, sql } from 'kysely';

/**
 * Adds bank accounts as people describe them, the bank account of an adjustment, and matches without an entry: lines that are nothing of
 * PIX. A version before counts such a line as matched, and lists no match for it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // texts of people: `confere forget` erases from them, so that there is no trigger against changes
  await sql`CREATE TABLE IF NOT EXISTS bank_accounts (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    account VARBINARY(100) NOT NULL COMMENT 'bank, branch and number, with / between; its newest row counts',
    name VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    not_pix TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON: how texts of lines begin, or what they contain, that are nothing of PIX',
    csv TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'JSON: how to read a CSV of the bank',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL
  ) ENGINE=InnoDB`.execute(db);
  const { rows } = await sql<{ name: string; nullable: string }>`SELECT CONCAT(TABLE_NAME, '.', COLUMN_NAME) AS name,
    IS_NULLABLE AS nullable FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()`.execute(db);
  const nullable = new Map(rows.map((row) => [row.name, row.nullable]));
  if (nullable.get('bank_matches.entry_seq') === 'NO')
    await sql`ALTER TABLE bank_matches
      MODIFY entry_seq BIGINT NULL COMMENT 'NULL: the line is nothing of PIX', ALGORITHM=INPLACE, LOCK=NONE`.execute(
      db,
    );
  if (!nullable.has('adjustments.bank_account'))
    await sql`ALTER TABLE adjustments
      ADD COLUMN bank_account VARBINARY(100) NULL COMMENT 'of kind bank: where the money went or came from', ALGORITHM=INPLACE, LOCK=NONE`.execute(
      db,
    );
}
