import { type Kysely, sql } from 'kysely';

/** A balance of a bank account that a person states, where no statement has one: at the end of a day. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'bank_accounts' AND COLUMN_NAME = 'balance_cents'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE bank_accounts
      ADD COLUMN balance_cents BIGINT NULL, ADD COLUMN balance_day DATE NULL COMMENT 'at its end'`.execute(db);
}
