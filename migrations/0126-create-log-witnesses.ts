import { type Kysely, sql } from 'kysely';

/** Creates the tables of cosignatures and of how each witness answers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
  for (const verb of ['update', 'delete']) await refuse(db, 'log_cosignatures', verb);
}

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS log_cosignatures (
    checkpoint_seq BIGINT NOT NULL,
    witness VARBINARY(255) NOT NULL COMMENT 'its name',
    line TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'of the signed note',
    received_at DATETIME(3) NOT NULL,
    PRIMARY KEY (checkpoint_seq, witness),
    KEY log_cosignatures_witness (witness, checkpoint_seq)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS log_witnesses (
    name VARBINARY(255) NOT NULL PRIMARY KEY,
    failing_since DATETIME(3) NULL COMMENT 'NULL: its last answer was a cosignature',
    refused TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'how it refused our history; NULL: it did not'
  ) ENGINE=InnoDB`,
];

/** The errors of a server that does not allow triggers: see 0013-baseline-append-only.ts. */
const NOT_ALLOWED_ERRNOS = new Set([1419, 1142, 1227, 1044]);

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
