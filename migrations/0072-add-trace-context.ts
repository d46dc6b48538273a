import { type Kysely, sql } from 'kysely';

const COMMENT = "trace context of what caused it, as W3C's traceparent; NULL while tracing is off";

/** The span that caused a callback, and the first span of a run: another process continues the trace. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['callbacks', 'runs']) {
    const { rows } = await sql`SELECT 1 FROM information_schema.columns
      WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = 'traceparent'`.execute(db);
    if (rows.length > 0) continue;
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN traceparent VARBINARY(64) NULL COMMENT ${sql.lit(COMMENT)}`.execute(
      db,
    );
  }
}
