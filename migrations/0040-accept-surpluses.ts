import { type Kysely, sql } from 'kysely';

/** What a window was short of its announced total by, and what people accepted of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'run_windows' AND column_name = 'surplus'`.execute(db);
  if (rows.length === 0) {
    await sql`ALTER TABLE run_windows ADD COLUMN surplus INT NOT NULL DEFAULT 0
      COMMENT 'rows announced beyond those listed, alike in all passes'`.execute(db);
  }
  await sql`CREATE TABLE IF NOT EXISTS accepted_surpluses (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    day DATE NOT NULL,
    platform VARBINARY(64) NULL,
    surplus INT NOT NULL,
    mismatch_seq BIGINT NOT NULL,
    actor VARBINARY(64) NOT NULL,
    created_at DATETIME(3) NOT NULL,
    KEY accepted_surpluses_day (day)
  ) ENGINE=InnoDB`.execute(db);
  await forbidChanges(db, 'accepted_surpluses');
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
