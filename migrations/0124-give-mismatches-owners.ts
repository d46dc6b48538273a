import { type Kysely, sql } from 'kysely';

/** The owner of a mismatch, who is to decide it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows: columns } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'mismatches' AND COLUMN_NAME = 'owner'`.execute(db);
  if (columns.length === 0)
    await sql`ALTER TABLE mismatches
      ADD COLUMN owner VARBINARY(64) NULL COMMENT 'id of a user or a token', ALGORITHM=INPLACE, LOCK=NONE`.execute(db);
  const { rows: keys } = await sql`SELECT 1 FROM information_schema.STATISTICS
    WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME = 'mismatches_owner'`.execute(db);
  if (keys.length === 0)
    await sql`ALTER TABLE mismatches ADD KEY mismatches_owner (owner, seq), ALGORITHM=INPLACE, LOCK=NONE`.execute(db);
}
