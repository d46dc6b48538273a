import { type Kysely, sql } from 'kysely';

/** The secret of a merchant's address for tests is derived, and rotated by a count. A process of the version before signs with the first one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, definition] of COLUMNS) {
    const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
      WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'merchants' AND COLUMN_NAME = ${name}`.execute(db);
    if (rows.length === 0) await sql`ALTER TABLE merchants ADD COLUMN ${sql.ref(name)} ${definition}`.execute(db);
  }
}

const COLUMNS = [
  ['test_rotations', sql`INT NOT NULL DEFAULT 0 COMMENT 'of the secret of test_url'`],
  ['test_rotated_at', sql`DATETIME(3) NULL COMMENT 'the secret before signs for 24 hours more'`],
] as const;
