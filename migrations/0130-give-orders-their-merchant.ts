import { type Kysely, sql } from 'kysely';

/**
 * The merchant whose token sent an expected payment: its filter says which payments that may be. A process of the version before
 * leaves the column empty, and then decides as it did.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
    AND table_name = 'expected_payments' AND column_name = 'merchant_seq'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE expected_payments
      ADD COLUMN merchant_seq BIGINT NULL COMMENT 'whose token sent it last; NULL: no merchant did',
      ADD KEY expected_payments_merchant (merchant_seq), ALGORITHM=INPLACE, LOCK=NONE`.execute(db);
  // the newest version that a merchant's token sent
  await sql`UPDATE expected_payments head JOIN (
      SELECT version.expected_id AS id, MAX(version.seq) AS seq FROM expected_versions version
      JOIN tokens ON tokens.id = version.actor AND tokens.merchant_seq IS NOT NULL GROUP BY version.expected_id
    ) sent ON sent.id = head.id
    JOIN expected_versions version ON version.seq = sent.seq JOIN tokens ON tokens.id = version.actor
    SET head.merchant_seq = tokens.merchant_seq`.execute(db);
  await sql`INSERT INTO expected_work (expected_seq, created_at, due_at)
    SELECT seq, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) FROM expected_payments WHERE merchant_seq IS NOT NULL`.execute(db);
}
