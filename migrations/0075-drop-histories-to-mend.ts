import { type Kysely, sql } from 'kysely';

/**
 * Refuses a database with histories that builds before 0.1.0 stored wrongly and listed. A database of 0.1.0 or later has none.
 * The list itself stays until no process of 0.1.0 reads it: its watch and its books check do (migrations/README.md).
 * @throws Error if some are not corrected: only the build that listed them can do that.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows: tables } = await sql`SELECT 1 FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name = 'histories_to_mend'`.execute(db);
  if (tables.length === 0) return;
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM histories_to_mend
    WHERE mended_at IS NULL`.execute(db);
  const left = Number(rows[0]?.count);
  if (left === 0) return;
  throw new Error(
    `${left} histories of a build before 0.1.0 are not corrected: run confere migrate of version 0.1.0, then of this one`,
  );
}
