import { type Kysely, sql } from 'kysely';

/** A test address that nobody confirmed gets invented examples alone. A process of the version before applies confirmed ones only. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'merchants' AND COLUMN_NAME = 'test_unconfirmed'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE merchants
      ADD COLUMN test_unconfirmed TINYINT NOT NULL DEFAULT 0 COMMENT '1: test_url gets no message of a payment'`.execute(
      db,
    );
}
