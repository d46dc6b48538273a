import { type Kysely, sql } from 'kysely';

/** What a window keeps of its pages once their evidence is folded. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'run_windows' AND COLUMN_NAME = 'pages_digest'`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE run_windows
    ADD COLUMN pages_digest BINARY(32) NULL COMMENT 'SHA-256 over the evidence of its pages, which was deleted since',
    ADD COLUMN folded_at DATETIME(3) NULL COMMENT 'when that was'`.execute(db);
}
