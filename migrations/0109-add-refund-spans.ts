import { type Kysely, sql } from 'kysely';

/**
 * What was refunded, by day and hour: the postings' sums alone hold payments less refunds. The sealer fills it from the first
 * seal on, also where a process of the version before has sealed since.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS refund_spans (
    grain VARBINARY(5) NOT NULL COMMENT 'day, hour',
    span CHAR(13) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'as in balance_spans',
    account_seq BIGINT NOT NULL COMMENT 'Liabilities:Receipts or Liabilities:Payables of a platform',
    amount_cents BIGINT NOT NULL COMMENT 'sum of the sealed postings of refunds, debit positive: part of balance_spans',
    PRIMARY KEY (grain, span, account_seq)
  ) ENGINE=InnoDB`.execute(db);

  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'sealing' AND COLUMN_NAME = 'refunds_position'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE sealing ADD COLUMN refunds_position BIGINT NOT NULL DEFAULT 0
      COMMENT 'the newest position whose refunds are in refund_spans, with those of all before it'`.execute(db);
}
