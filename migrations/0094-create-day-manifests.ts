import { type Kysely, sql } from 'kysely';

/** Daily manifests of merchants' messages, and the keys that sign them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
  for (const verb of ['update', 'delete']) await refuse(db, 'day_manifests', verb);
  await addIndex(db);
  await addColumn(db);
}

/** Corrections of a day are read by their time. */
async function addIndex(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.STATISTICS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'corrections' AND INDEX_NAME = 'corrections_created'`.execute(db);
  if (rows.length === 0) await sql`ALTER TABLE corrections ADD KEY corrections_created (created_at)`.execute(db);
}

async function addColumn(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'merchants' AND COLUMN_NAME = 'manifests'`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE merchants ADD COLUMN manifests TINYINT NOT NULL DEFAULT 1
    COMMENT '1: its manifests are sent to it as callbacks'`.execute(db);
}

const TABLES = [
  // a rotation adds a key and ends the one before
  sql`CREATE TABLE IF NOT EXISTS manifest_keys (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    generation INT NOT NULL COMMENT '1, 2, 3…: of two processes that make a key at once, one does',
    id VARBINARY(64) NOT NULL COMMENT 'the thumbprint of the public key (RFC 7638)',
    public_key BINARY(32) NOT NULL COMMENT 'Ed25519',
    ciphertext BLOB NULL COMMENT 'the private key (PKCS #8), encrypted; NULL: it signs no more',
    key_id VARBINARY(16) NOT NULL COMMENT 'id of the SECRET_KEY that encrypts it',
    created_at DATETIME(3) NOT NULL,
    signs_until DATETIME(3) NULL COMMENT 'NULL: not ended by a rotation',
    UNIQUE KEY manifest_keys_generation (generation),
    UNIQUE KEY manifest_keys_id (id)
  ) ENGINE=InnoDB`,

  // the days whose manifest is to be made or compared with the messages
  sql`CREATE TABLE IF NOT EXISTS due_day_manifests (
    day CHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    merchant_seq BIGINT NOT NULL,
    PRIMARY KEY (day, merchant_seq)
  ) ENGINE=InnoDB`,

  sql`CREATE TABLE IF NOT EXISTS day_manifests (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    merchant_seq BIGINT NOT NULL,
    day CHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    revision INT NOT NULL,
    facts_hash BINARY(32) NOT NULL COMMENT 'of what a revision is about: all but its number, its time and the head of the chain',
    ids_digest BINARY(32) NOT NULL COMMENT 'SHA-256 of the sorted webhook-ids',
    callback_cut BIGINT NOT NULL COMMENT 'the messages are those of the day up to this callbacks.seq',
    is_proven TINYINT NOT NULL,
    is_closed TINYINT NOT NULL,
    payload MEDIUMTEXT NOT NULL COMMENT 'the signed JSON',
    signatures TEXT NOT NULL COMMENT 'JSON: of a JWS in its general form',
    callback_seq BIGINT NULL COMMENT 'the callback that sends it; NULL: it is not sent',
    made_at DATETIME(3) NOT NULL,
    UNIQUE KEY day_manifests_revision (merchant_seq, day, revision),
    KEY day_manifests_callback (callback_seq),
    KEY day_manifests_day (day, is_closed)
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
