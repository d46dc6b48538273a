import { type Kysely, sql } from 'kysely';

const APPEND_ONLY = ['events', 'entries', 'postings', 'seals', 'seal_stragglers', 'accepted_surpluses', 'audit'];

/**
 * Error numbers of a server that does not allow triggers: the binary log without log_bin_trust_function_creators, or a
 * user without TRIGGER. The tables then have no guard, and `doctor` reports it.
 */
const NOT_ALLOWED_ERRNOS = new Set([1419, 1142, 1227, 1044]);

/** Triggers that refuse UPDATE and DELETE on the append-only tables, also for users who hold these privileges. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of APPEND_ONLY) {
    for (const verb of ['update', 'delete']) await refuse(db, table, verb);
  }
}

/** MySQL before 8.0.29 has no CREATE TRIGGER IF NOT EXISTS. */
async function refuse(db: Kysely<unknown>, table: string, verb: string): Promise<void> {
  const name = `${table}_no_${verb}`;
  const { rows } = await sql`SELECT 1 FROM information_schema.triggers
    WHERE trigger_schema = DATABASE() AND trigger_name = ${name}`.execute(db);
  if (rows.length > 0) return;
  try {
    await sql`CREATE TRIGGER ${sql.id(name)} BEFORE ${sql.raw(verb.toUpperCase())} ON ${sql.table(table)}
      FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = ${sql.lit(`${table} is append-only`)}`.execute(db);
  } catch (error) {
    if (!NOT_ALLOWED_ERRNOS.has((error as { errno?: number }).errno ?? 0)) throw error;
  }
}
