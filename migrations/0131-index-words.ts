import { type Kysely, sql } from 'kysely';

/**
 * The keyed words of transactions, by which their beginnings are found, and the rows whose words are due: all that exist. The worker
 * fills them, since a migration has no key. A process of the version before leaves new rows due.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS search_words (
    transaction_seq BIGINT NOT NULL,
    word VARBINARY(45) NOT NULL COMMENT 'keyed hashes of its beginnings: 6 bytes of the first three characters, 3 of each longer one',
    created_wall CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'copy of transactions.created_wall, for the order of a page',
    PRIMARY KEY (transaction_seq, word),
    KEY search_words_word (word, created_wall)
  ) ENGINE=InnoDB`.execute(db);
  const { rows } = await sql`SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
    AND table_name = 'parties' AND column_name = 'index_due'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE parties
      ADD COLUMN index_due TINYINT NULL DEFAULT 1 COMMENT '1: the worker is to fill its search columns and words',
      ADD KEY parties_due (index_due), ALGORITHM=INPLACE, LOCK=NONE`.execute(db);
}
