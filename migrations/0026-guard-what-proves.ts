import { type Kysely, sql } from 'kysely';

/**
 * Two things that the hash chain stands on. Which entries were sealed late is only ever added to, like the seals; and a
 * report keeps the hash that it was cut at, so that a chain built anew shows. Reports of before get the hash that is there now.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await forbidChanges(db, 'seal_stragglers');
  await addColumn(
    db,
    'reports',
    "cut_seal_hash BINARY(32) NULL COMMENT 'of cut_seal_position, when it was made; NULL: made before there were seals'",
  );
  await sql`UPDATE reports JOIN seals ON seals.position = reports.cut_seal_position
    SET reports.cut_seal_hash = seals.hash WHERE reports.cut_seal_hash IS NULL`.execute(db);
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function addColumn(db: Kysely<unknown>, table: string, definition: string): Promise<void> {
  const [name] = definition.split(' ');
  const found = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${name}`.execute(db);
  if (found.rows.length === 0) await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.raw(definition)}`.execute(db);
}

/** The binary log without log_bin_trust_function_creators, or a user without TRIGGER: then `doctor` says so. */
const NOT_ALLOWED_ERRNOS = new Set([1419, 1142, 1227, 1044]);

async function forbidChanges(db: Kysely<unknown>, table: string): Promise<void> {
  for (const verb of ['update', 'delete']) {
    const name = `${table}_no_${verb}`;
    const { rows } = await sql`SELECT 1 FROM information_schema.triggers
      WHERE trigger_schema = DATABASE() AND trigger_name = ${name}`.execute(db);
    if (rows.length > 0) continue;
    try {
      await sql`CREATE TRIGGER ${sql.id(name)} BEFORE ${sql.raw(verb.toUpperCase())} ON ${sql.table(table)}
        FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = ${sql.lit(`${table} is append-only`)}`.execute(db);
    } catch (error) {
      if (!NOT_ALLOWED_ERRNOS.has((error as { errno?: number }).errno ?? 0)) throw error;
    }
  }
}
