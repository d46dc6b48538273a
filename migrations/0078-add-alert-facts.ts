import { type Kysely, sql } from 'kysely';

/**
 * The facts of an alert, from which its texts are made in each language; and an index from which the overview reads the newest
 * reading of each range of days.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows: indexes } = await sql`SELECT 1 FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = 'run_windows' AND index_name = 'run_windows_proven'`.execute(db);
  if (indexes.length === 0)
    await sql`ALTER TABLE run_windows ADD KEY run_windows_proven (from_day, to_day, state, platform, asked_at)`.execute(
      db,
    );
  const { rows: columns } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'alerts' AND column_name = 'facts'`.execute(db);
  if (columns.length > 0) return;
  await sql`ALTER TABLE alerts ADD COLUMN facts TEXT NULL COMMENT 'JSON; NULL in alerts of earlier versions',
    ADD KEY alerts_name (name, seq)`.execute(db);
}
