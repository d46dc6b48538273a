import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Kysely, sql } from 'kysely';
import { VERSION } from '../version.ts';
import { type MigrationFolder, planMigrations } from './plan-migrations.ts';

const LOCK_TTL_S = 60;
const LOCK_RENEW_MS = 15_000;
const LOCK_POLL_MS = 250;
const LOCK_WAIT_MS = 120_000;
/**
 * A change of a table waits for the transactions that use it, such as a report or a dump, and every later statement on the table
 * waits behind it. So it gives up after this time, lets them through, and is tried again.
 */
const TABLE_LOCK_WAIT_S = 2;
const TABLE_LOCK_RETRY_MS = 1_000;
const TABLE_LOCK_TRIES_MAX = 200;
const LOCK_WAIT_ERRNO = 1205;
/** Error code: another process held the migration lock for LOCK_WAIT_MS, or a table was in use for TABLE_LOCK_TRIES_MAX tries. */
export const MIGRATION_LOCKED = 'MIGRATION_LOCKED';

export type Migration = { up: (db: Kysely<unknown>) => Promise<void> };

/**
 * Runs the pending migrations of a folder (`0001-verb-noun.ts`, each exporting `up`) in order, under a lock. The lock is a
 * row that expires, because a lock of the server (GET_LOCK) ends with its connection. DDL is not transactional: each migration can run again, and
 * is recorded with the version of the program when it has finished.
 *
 * A database that has all migrations that the folder's baseline replaces gets the baseline recorded, not run.
 * @param options.wait waits between two attempts to take the lock; a test passes its own.
 * @returns the names of the files that ran, or with `dryRun` would run.
 * @throws an error with the code MIGRATION_LOCKED, MIGRATION_TOO_OLD or MIGRATION_TOO_NEW.
 */
export async function migrate<DB>(
  db: Kysely<DB>,
  options: MigrationFolder & {
    log: (message: string) => void;
    dryRun?: boolean;
    wait?: (ms: number) => Promise<unknown>;
  },
): Promise<string[]> {
  // cast: migrations create the tables, so no table type holds while they run
  const untyped = db as unknown as Kysely<unknown>;
  const { log, version = VERSION } = options;
  // planned before anything is created: a user without CREATE can start where nothing is pending
  const plan = await planMigrations(untyped, options);
  if (options.dryRun) return plan.pending;
  if (plan.pending.length === 0) {
    // without the lock: another process may record the same, and a read-only server refuses; the next start tries again
    await record(untyped, plan.replaced, version).catch(() => undefined);
    return [];
  }
  await createTables(untyped);
  const holder = randomUUID();
  await takeRowLock(untyped, holder, options.wait ?? sleep);
  const renewal = setInterval(() => void renew(untyped, holder).catch(() => undefined), LOCK_RENEW_MS);
  try {
    await addVersionColumn(untyped);
    const { pending, replaced } = await planMigrations(untyped, options);
    await record(untyped, replaced, version);
    await withShortLockWait(untyped, async (connection) => {
      for (const file of pending) {
        await runPatiently(connection, options.folder, file, options);
        await record(untyped, [file], version);
        log(`migrated ${file}`);
      }
    });
    return pending;
  } finally {
    clearInterval(renewal);
    await sql`UPDATE migration_lock SET holder = NULL WHERE id = 1 AND holder = ${holder}`.execute(untyped);
  }
}

export async function loadMigration(folder: string, file: string): Promise<Migration> {
  return (await import(pathToFileURL(path.join(folder, file)).href)) as Migration;
}

/** Gives `work` one connection, whose statements wait TABLE_LOCK_WAIT_S for the lock of a table. */
async function withShortLockWait(db: Kysely<unknown>, work: (connection: Kysely<unknown>) => Promise<void>) {
  await db.connection().execute(async (connection) => {
    await sql`SET SESSION lock_wait_timeout = ${sql.lit(TABLE_LOCK_WAIT_S)}`.execute(connection);
    try {
      await work(connection);
    } finally {
      // the connection returns to the pool; a lost one fails here as well
      await sql`SET SESSION lock_wait_timeout = DEFAULT`.execute(connection).catch(() => undefined);
    }
  });
}

/** Runs a migration, again while a table that it changes is in use. */
async function runPatiently(
  db: Kysely<unknown>,
  folder: string,
  file: string,
  { log, wait = sleep }: { log: (message: string) => void; wait?: (ms: number) => Promise<unknown> },
): Promise<void> {
  const { up } = await loadMigration(folder, file);
  for (let tries = 1; ; tries++) {
    try {
      return await up(db);
    } catch (error) {
      if ((error as { errno?: number }).errno !== LOCK_WAIT_ERRNO) throw error;
      if (tries === TABLE_LOCK_TRIES_MAX) {
        const text = `a table that ${file} changes stayed in use, such as by a dump: end that, and run it again`;
        throw Object.assign(new Error(text, { cause: error }), { code: MIGRATION_LOCKED });
      }
      if (tries === 1) log(`${file} waits until a table is not in use by a long transaction`);
      await wait(TABLE_LOCK_RETRY_MS);
    }
  }
}

/** Another process may record the same baseline: then the first row stays. */
async function record(db: Kysely<unknown>, files: string[], version: string): Promise<void> {
  for (const file of files) {
    await sql`INSERT INTO migrations (name, applied_at, version) VALUES (${file}, UTC_TIMESTAMP(3), ${version})
      ON DUPLICATE KEY UPDATE name = migrations.name`.execute(db);
  }
}

async function createTables(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS migrations (
    name VARCHAR(190) CHARACTER SET ascii NOT NULL PRIMARY KEY,
    applied_at DATETIME(3) NOT NULL,
    version VARCHAR(64) CHARACTER SET ascii NULL
  ) ENGINE=InnoDB`.execute(db);
  await sql`CREATE TABLE IF NOT EXISTS migration_lock (
    id TINYINT NOT NULL PRIMARY KEY,
    holder VARCHAR(36) CHARACTER SET ascii NULL,
    held_until DATETIME(3) NOT NULL
  ) ENGINE=InnoDB`.execute(db);
  await sql`INSERT INTO migration_lock (id, holder, held_until) VALUES (1, NULL, UTC_TIMESTAMP(3))
    ON DUPLICATE KEY UPDATE id = id`.execute(db);
}

/** Version 0.1.0 made the table without it. */
async function addVersionColumn(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'migrations' AND column_name = 'version'`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE migrations ADD COLUMN version VARCHAR(64) CHARACTER SET ascii NULL`.execute(db);
}

async function takeRowLock(db: Kysely<unknown>, holder: string, wait: (ms: number) => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    const taken = await sql`UPDATE migration_lock
      SET holder = ${holder}, held_until = UTC_TIMESTAMP(3) + INTERVAL ${sql.lit(LOCK_TTL_S)} SECOND
      WHERE id = 1 AND (holder IS NULL OR held_until < UTC_TIMESTAMP(3))`.execute(db);
    if (taken.numAffectedRows === 1n) return;
    if (Date.now() > deadline) {
      const text = 'another process has been migrating this database for two minutes';
      throw Object.assign(new Error(text), { code: MIGRATION_LOCKED });
    }
    await wait(LOCK_POLL_MS);
  }
}

async function renew(db: Kysely<unknown>, holder: string): Promise<void> {
  await sql`UPDATE migration_lock SET held_until = UTC_TIMESTAMP(3) + INTERVAL ${sql.lit(LOCK_TTL_S)} SECOND
    WHERE id = 1 AND holder = ${holder}`.execute(db);
}
