import { type Kysely, sql } from 'kysely';

const BATCH = 1_000;

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
  // by the newest version that a merchant's token sent; each is decided again, since its time has come
  let changed = 1n;
  while (changed > 0n) {
    const sent = sql`SELECT tokens.merchant_seq FROM expected_versions JOIN tokens ON tokens.id = expected_versions.actor
      WHERE expected_versions.expected_id = expected_payments.id AND tokens.merchant_seq IS NOT NULL
      ORDER BY expected_versions.seq DESC LIMIT 1`;
    const { numAffectedRows } = await sql`UPDATE expected_payments
      SET merchant_seq = (${sent}), look_at = UTC_TIMESTAMP(3)
      WHERE merchant_seq IS NULL AND EXISTS (${sent}) LIMIT ${sql.lit(BATCH)}`.execute(db);
    changed = numAffectedRows ?? 0n;
  }
}
