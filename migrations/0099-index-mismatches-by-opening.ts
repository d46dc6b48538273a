import { type Kysely, sql } from 'kysely';

/** The report of a day shows the mismatches that were opened in it: without the index it read all that there ever were. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.STATISTICS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'mismatches' AND INDEX_NAME = 'mismatches_opened'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE mismatches ADD KEY mismatches_opened (opened_at), ALGORITHM=INPLACE, LOCK=NONE`.execute(db);
}
