import { type Kysely, sql } from 'kysely';

/**
 * The hash chain over the journal, and the balances that its sealer folds. Postings are only appended and no two
 * appliers share a row; one sealer turns what was committed into the chain's next position.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createChain(db);
  // by month, day and hour, so that a balance at any instant is a few hundred rows and the postings of one hour
  await sql`CREATE TABLE IF NOT EXISTS balance_spans (
    grain VARBINARY(5) NOT NULL COMMENT 'month, day, hour',
    span CHAR(13) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the beginning of a wall clock: 2026-11, 2026-11-21, 2026-11-21 08',
    account_seq BIGINT NOT NULL,
    amount_cents BIGINT NOT NULL COMMENT 'sum of the sealed postings of that span, debit positive',
    PRIMARY KEY (grain, span, account_seq)
  ) ENGINE=InnoDB`.execute(db);
  await addColumn(db, 'reports', 'cut_seal_position', sql`BIGINT NULL COMMENT 'NULL: made before there were seals'`);
  for (const table of ['events', 'entries', 'postings', 'seals']) await forbidChanges(db, table);
}

async function createChain(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS seals (
    position BIGINT NOT NULL PRIMARY KEY COMMENT '1, 2, 3… without a gap',
    entry_seq BIGINT NOT NULL COMMENT 'the highest entry that was settled',
    event_seq BIGINT NOT NULL,
    mismatch_change_seq BIGINT NOT NULL,
    members MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the entries sealed here: 1-40,43',
    entries INT NOT NULL,
    stragglers INT NOT NULL COMMENT 'members at or below the entry_seq of the position before',
    previous_hash BINARY(32) NOT NULL,
    hash BINARY(32) NOT NULL,
    sealed_at DATETIME(3) NOT NULL,
    KEY seals_sealed_at (sealed_at)
  ) ENGINE=InnoDB`.execute(db);

  // what a cut by number alone would count to an earlier position than it was sealed at
  await sql`CREATE TABLE IF NOT EXISTS seal_stragglers (
    entry_seq BIGINT NOT NULL PRIMARY KEY,
    position BIGINT NOT NULL,
    KEY seal_stragglers_position (position)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS sealing (
    id TINYINT NOT NULL PRIMARY KEY,
    holder VARBINARY(64) NULL,
    lease_until DATETIME(3) NULL
  ) ENGINE=InnoDB`.execute(db);
  await sql`INSERT INTO sealing (id) VALUES (1) ON DUPLICATE KEY UPDATE id = id`.execute(db);
}

/** MySQL knows no ADD COLUMN IF NOT EXISTS. */
async function addColumn(
  db: Kysely<unknown>,
  table: string,
  column: string,
  type: ReturnType<typeof sql>,
): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${column}`.execute(db);
  if (rows.length === 0) {
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(column)} ${type}`.execute(db);
  }
}

/** The binary log without log_bin_trust_function_creators, or a user without TRIGGER: then `doctor` says so. */
const NOT_ALLOWED_ERRNOS = new Set([1419, 1142, 1227, 1044]);

/** Append-only, also for whoever holds UPDATE and DELETE: a trigger refuses both, where the server lets us make one. */
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
