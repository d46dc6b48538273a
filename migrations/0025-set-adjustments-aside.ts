import { type Kysely, sql } from 'kysely';

/**
 * What an opening does to adjustments dated before it is told from what people do. And books in which something stands
 * from before an opening, as versions before this one left it, are booked by their openings once more.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addColumn(
    db,
    'adjustments',
    "opening_seq BIGINT NULL COMMENT 'the opening that set it aside, or that did until it was taken back; NULL: a person entered it'",
  );
  await sql`UPDATE openings SET reposted_at = NULL
    WHERE in_force = 1 AND EXISTS (
      SELECT 1 FROM entries e LEFT JOIN entries reversal ON reversal.reverses_seq = e.seq
      WHERE e.platform = openings.platform AND e.at_wall < CONCAT(openings.day, ' 00:00:00')
        AND e.reverses_seq IS NULL AND reversal.seq IS NULL)`.execute(db);
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function addColumn(db: Kysely<unknown>, table: string, definition: string): Promise<void> {
  const [name] = definition.split(' ');
  const found = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${name}`.execute(db);
  if (found.rows.length === 0) await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.raw(definition)}`.execute(db);
}
