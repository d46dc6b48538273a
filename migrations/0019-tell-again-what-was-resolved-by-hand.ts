import { type Kysely, sql } from 'kysely';

/**
 * What a person resolved is not told again for the same evidence, until fresh evidence has shown it to be over: which
 * of them that holds for.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const columns = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'mismatches' AND column_name = 'kept_scope'`.execute(db);
  if (columns.rows.length === 0) {
    await sql`ALTER TABLE mismatches ADD COLUMN kept_scope VARBINARY(200) NULL
      COMMENT 'kind and scope while what a person said of it stands: until fresh evidence shows it to be over'`.execute(
      db,
    );
  }
  const keys = await sql`SELECT 1 FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = 'mismatches' AND index_name = 'mismatches_kept'`.execute(db);
  if (keys.rows.length === 0) await sql`ALTER TABLE mismatches ADD KEY mismatches_kept (kept_scope)`.execute(db);
  await sql`UPDATE mismatches SET kept_scope = CONCAT(kind, ' ', scope)
    WHERE state = 'resolved' AND kept_scope IS NULL
      AND resolution NOT IN ('applied', 'fresh_evidence', 'reprocessed', 'revised')`.execute(db);
}
