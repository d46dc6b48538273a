import { type Kysely, sql } from 'kysely';

/** The Merkle log over the seals, the days of merchants and the closes of months (RFC 6962), and its checkpoints (C2SP). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
  for (const table of ['log_hashes', 'log_origins', 'log_checkpoints'])
    for (const verb of ['update', 'delete']) await refuse(db, table, verb);
}

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS log_hashes (
    level TINYINT NOT NULL COMMENT '0: leaves; above: the hashes of 256 of the level below',
    position BIGINT NOT NULL COMMENT '0, 1, 2…',
    hash BINARY(32) NOT NULL,
    kind VARBINARY(8) NULL COMMENT 'of a leaf: seal, month or day',
    ref BIGINT NULL COMMENT 'seals.position, month_closes.seq or day_manifests.seq',
    PRIMARY KEY (level, position),
    UNIQUE KEY log_hashes_ref (kind, ref)
  ) ENGINE=InnoDB`,

  // what others than the sealer leave for it to append
  sql`CREATE TABLE IF NOT EXISTS log_queue (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind VARBINARY(8) NOT NULL,
    ref BIGINT NOT NULL,
    hash BINARY(32) NOT NULL COMMENT 'of the leaf'
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS log_origins (
    seq BIGINT NOT NULL PRIMARY KEY COMMENT '1, 2, 3…: a restore that the witnesses do not accept begins one',
    origin VARBINARY(255) NOT NULL,
    from_size BIGINT NOT NULL COMMENT 'the leaves that the log had then',
    started_at DATETIME(3) NOT NULL,
    UNIQUE KEY log_origins_origin (origin)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS log_checkpoints (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    origin_seq BIGINT NOT NULL,
    size BIGINT NOT NULL,
    root BINARY(32) NOT NULL,
    note TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'signed, without cosignatures',
    made_at DATETIME(3) NOT NULL,
    UNIQUE KEY log_checkpoints_size (origin_seq, size)
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
