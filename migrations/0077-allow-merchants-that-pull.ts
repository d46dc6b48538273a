import { type Kysely, sql } from 'kysely';

/** Merchants without a URL read their events by cursor. A failed callback is mailed to its merchant once a cause and day. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE merchants MODIFY url VARCHAR(2048) NULL COMMENT 'NULL: it fetches its events'`.execute(db);
  const { rows } = await sql<{ name: string }>`SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'merchants'`.execute(db);
  const known = new Set(rows.map((row) => row.name));
  for (const [name, definition] of COLUMNS) {
    if (!known.has(name)) await sql`ALTER TABLE merchants ADD COLUMN ${sql.ref(name)} ${definition}`.execute(db);
  }
  await sql`CREATE TABLE IF NOT EXISTS merchant_mails (
    merchant_seq BIGINT NOT NULL,
    day DATE NOT NULL COMMENT 'of the provider''s calendar',
    cause VARBINARY(32) NOT NULL COMMENT 'error_class of the last attempt',
    callback_seq BIGINT NOT NULL COMMENT 'the first callback that failed',
    created_at DATETIME(3) NOT NULL,
    next_attempt_at DATETIME(3) NULL COMMENT 'NULL: sent, or not to be sent',
    PRIMARY KEY (merchant_seq, day, cause),
    KEY merchant_mails_due (next_attempt_at)
  ) ENGINE=InnoDB`.execute(db);
}

const COLUMNS = [
  ['pull_token_expires_at', sql`DATETIME(3) NULL`],
  ['pulled_position', sql`BIGINT NOT NULL DEFAULT 0 COMMENT 'the cursor that it last asked from'`],
  ['pulled_at', sql`DATETIME(3) NULL`],
] as const;
