import { type Kysely, sql } from 'kysely';

/** Payments leave work only where some are expected (src/ledger/journal/read-policies.ts): that they are was no setting before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`INSERT INTO settings (name, value)
    SELECT 'expects_payments', 'by a migration' FROM (SELECT 1 FROM expected_payments LIMIT 1) AS any_expected
    ON DUPLICATE KEY UPDATE name = VALUES(name)`.execute(db);
}
