import { type Kysely, sql } from 'kysely';

/** The figures of a revision's Resumo, which lists of days show; and an index for the mismatches that a day's page lists. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows: columns } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'reports' AND column_name = 'figures'`.execute(db);
  if (columns.length === 0)
    await sql`ALTER TABLE reports ADD COLUMN figures MEDIUMTEXT NULL
      COMMENT 'JSON: cents of Resumo by platform, and open mismatches; NULL in revisions of earlier versions until the job daily_report adds them'`.execute(
      db,
    );
  const { rows: indexes } = await sql`SELECT 1 FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = 'mismatches' AND index_name = 'mismatches_opened'`.execute(db);
  if (indexes.length === 0) await sql`ALTER TABLE mismatches ADD KEY mismatches_opened (opened_at, seq)`.execute(db);
}
