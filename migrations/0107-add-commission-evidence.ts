import { type Kysely, sql } from 'kysely';

/** The observations that decide which commission is booked, by the times of their requests (commission-evidence.ts). */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'transactions' AND COLUMN_NAME = 'commission_evidence'`.execute(
    db,
  );
  if (rows.length > 0) return;
  await sql`ALTER TABLE transactions ADD COLUMN commission_evidence VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin
    NULL COMMENT 'JSON; NULL: an earlier version wrote the commission, or nothing is known of one'`.execute(db);
}
