import { type Kysely, sql } from 'kysely';

/** Finds the orders that have an invoice by its key. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.STATISTICS
    WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME = 'expected_versions_invoice'`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE expected_versions
    ADD KEY expected_versions_invoice (invoice_key), ALGORITHM=INPLACE, LOCK=NONE`.execute(db);
}
