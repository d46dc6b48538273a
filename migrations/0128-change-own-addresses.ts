import { type Kysely, sql } from 'kysely';

/** Merchants change their address and e-mail themselves, and have an address for tests. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await CHANGES.execute(db);
  for (const [name, definition] of COLUMNS) {
    const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
      WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'merchants' AND COLUMN_NAME = ${name}`.execute(db);
    if (rows.length === 0) await sql`ALTER TABLE merchants ADD COLUMN ${sql.ref(name)} ${definition}`.execute(db);
  }
}

const CHANGES = sql`CREATE TABLE IF NOT EXISTS merchant_address_changes (
  seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  id VARBINARY(40) NOT NULL,
  merchant_seq BIGINT NOT NULL,
  kind VARBINARY(16) NOT NULL COMMENT 'url, email, test_url',
  value VARCHAR(2048) NULL COMMENT 'NULL: no address for tests any more',
  old_value VARCHAR(2048) NULL COMMENT 'what it replaces',
  asked_at DATETIME(3) NOT NULL,
  asked_by VARBINARY(64) NOT NULL COMMENT 'the id of a token of the portal',
  proven_at DATETIME(3) NULL COMMENT 'the new address answered the challenge, or the link mailed to the new e-mail was used',
  agreed_at DATETIME(3) NULL COMMENT 'the link mailed to the e-mail on file was used, or an admin confirmed',
  applied_at DATETIME(3) NULL,
  ended_at DATETIME(3) NULL COMMENT 'withdrawn, refused, or replaced by a later one',
  mail VARBINARY(16) NULL COMMENT 'the next mail: agree, prove, applied',
  next_attempt_at DATETIME(3) NULL COMMENT 'of that mail',
  UNIQUE KEY merchant_address_changes_id (id),
  KEY merchant_address_changes_merchant (merchant_seq, asked_at),
  KEY merchant_address_changes_due (next_attempt_at)
) ENGINE=InnoDB`;

const COLUMNS = [
  ['old_url', sql`VARCHAR(2048) NULL COMMENT 'takes the messages that failed before url_changed_at; NULL: url does'`],
  ['url_changed_at', sql`DATETIME(3) NULL COMMENT 'by the merchant itself'`],
  ['test_url', sql`VARCHAR(2048) NULL COMMENT 'takes tests and examples; NULL: url does'`],
] as const;
