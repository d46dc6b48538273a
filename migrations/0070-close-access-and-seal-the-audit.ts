import { type Kysely, sql } from 'kysely';

/**
 * Tokens end and say when they were last used; a session remembers what it was opened with, so that it ends with it
 * (those of before end with this migration). The audit becomes append-only, and positions of the hash chain hold its
 * rows from now on: positions without `audit_seq` are hashed as they were before.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addColumn(db, 'tokens', 'expires_at DATETIME(3) NULL');
  await addColumn(db, 'tokens', "last_used_at DATETIME(3) NULL COMMENT 'to the minute'");
  await addColumn(db, 'sessions', "opened_with BINARY(32) NULL COMMENT 'hash of the token it was opened with'");
  await addColumn(db, 'audit', "id VARBINARY(40) NULL COMMENT 'drawn by the writer; NULL: written before it was kept'");
  await addKey(db, 'audit', 'audit_id', 'id', 'UNIQUE');
  await addKey(db, 'audit', 'audit_at', 'at');
  await addKey(db, 'audit', 'audit_action', 'action, seq');
  await addColumn(
    db,
    'seals',
    "audit_seq BIGINT NULL COMMENT 'the highest row of the audit; NULL: sealed before it was'",
  );
  await addColumn(
    db,
    'seals',
    "audit_members MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'the rows sealed here: 1-40,43'",
  );
  await forbidChanges(db, 'audit');
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function addColumn(db: Kysely<unknown>, table: string, definition: string): Promise<void> {
  const [name] = definition.split(' ');
  const found = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${name}`.execute(db);
  if (found.rows.length === 0) await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.raw(definition)}`.execute(db);
}

async function addKey(db: Kysely<unknown>, table: string, name: string, columns: string, kind = ''): Promise<void> {
  const found = await sql`SELECT 1 FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = ${table} AND index_name = ${name}`.execute(db);
  if (found.rows.length > 0) return;
  await sql`ALTER TABLE ${sql.table(table)} ADD ${sql.raw(kind)} KEY ${sql.id(name)} (${sql.raw(columns)})`.execute(db);
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
