import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Kysely, sql } from 'kysely';

const LOCK_TTL_S = 60;
const LOCK_RENEW_MS = 15_000;
const LOCK_POLL_MS = 250;
const LOCK_WAIT_MS = 120_000;
/** The code of the error when another process goes on migrating for longer than we wait. */
export const MIGRATION_LOCKED = 'MIGRATION_LOCKED';

type Migration = { up: (db: Kysely<unknown>) => Promise<void> };

/**
 * Runs the migrations of a folder (`0001-verb-noun.ts`, each exporting `up`) that have not run yet, in order, under a
 * lock. The lock is a row that runs out, not GET_LOCK, which Galera does not know. DDL is not transactional: each
 * migration is re-runnable, and is written down when it is done.
 * @param options.wait passes the time until the lock is asked for again; a test hands in its own.
 * @returns the names of those that ran, or with `dryRun` would run.
 */
export async function migrate<DB>(
  db: Kysely<DB>,
  options: {
    folder: string;
    log: (message: string) => void;
    dryRun?: boolean;
    wait?: (ms: number) => Promise<unknown>;
  },
): Promise<string[]> {
  // a migration makes the tables: while it runs, no type of them is true
  const plain = db as unknown as Kysely<unknown>;
  const files = readdirSync(options.folder).filter((name) => /^\d{4}-[a-z0-9-]+\.ts$/.test(name));
  // asked before anything is created: who may only read and write rows can start where nothing is pending
  const waiting = (await hasTables(plain)) ? await listPending(plain, files) : files.sort();
  if (waiting.length === 0 || options.dryRun) return waiting;
  await createTables(plain);
  const holder = randomUUID();
  await takeRowLock(plain, holder, options.wait ?? sleep);
  const renewal = setInterval(() => void renew(plain, holder).catch(() => undefined), LOCK_RENEW_MS);
  try {
    const pending = await listPending(plain, files);
    for (const file of pending) {
      const migration = (await import(pathToFileURL(path.join(options.folder, file)).href)) as Migration;
      await migration.up(plain);
      await sql`INSERT INTO migrations (name, applied_at) VALUES (${file}, UTC_TIMESTAMP(3))`.execute(plain);
      options.log(`migrated ${file}`);
    }
    return pending;
  } finally {
    clearInterval(renewal);
    await sql`UPDATE migration_lock SET holder = NULL WHERE id = 1 AND holder = ${holder}`.execute(plain);
  }
}

async function hasTables(db: Kysely<unknown>): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name IN ('migrations', 'migration_lock')`.execute(db);
  return rows.length === 2;
}

async function createTables(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS migrations (
    name VARCHAR(190) CHARACTER SET ascii NOT NULL PRIMARY KEY,
    applied_at DATETIME(3) NOT NULL
  ) ENGINE=InnoDB`.execute(db);
  await sql`CREATE TABLE IF NOT EXISTS migration_lock (
    id TINYINT NOT NULL PRIMARY KEY,
    holder VARCHAR(36) CHARACTER SET ascii NULL,
    held_until DATETIME(3) NOT NULL
  ) ENGINE=InnoDB`.execute(db);
  await sql`INSERT INTO migration_lock (id, holder, held_until) VALUES (1, NULL, UTC_TIMESTAMP(3))
    ON DUPLICATE KEY UPDATE id = id`.execute(db);
}

async function listPending(db: Kysely<unknown>, files: string[]): Promise<string[]> {
  const done = await sql<{ name: string }>`SELECT name FROM migrations`.execute(db);
  const names = new Set(done.rows.map((row) => row.name));
  return files.filter((file) => !names.has(file)).sort();
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
