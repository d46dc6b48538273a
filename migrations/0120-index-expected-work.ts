import { type Kysely, sql } from 'kysely';

/** Finds work by its transaction: what is decided with its order needs no decision of its own. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()
    AND TABLE_NAME = 'expected_work' AND INDEX_NAME = 'expected_work_transaction'`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE expected_work ADD KEY expected_work_transaction (transaction_seq)`.execute(db);
}
