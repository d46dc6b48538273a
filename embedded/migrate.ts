import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Kysely, sql } from 'kysely';

const LOCK_TTL_S = 60;
const LOCK_RENEW_MS = 15_000;
const LOCK_POLL_MS = 250;
const LOCK_WAIT_MS = 120_000;
/** Error code: another process held the migration lock for longer than LOCK_WAIT_MS. */
export const MIGRATION_LOCKED = 'MIGRATION_LOCKED';
/** Error code: the database has some of the migrations that a baseline replaces, but not all. */
export const MIGRATION_TOO_OLD = 'MIGRATION_TOO_OLD';

/**
 * Exported as `baseline` by the file `baseline.ts` of a folder. The folder's files `NNNN-baseline-…` then create what the
 * replaced migrations together left in a database.
 */
export type Baseline = {
  /** File names of the replaced migrations. No file of the folder may have one of these names. */
  replaces: string[];
  /** The last version that still has the replaced migrations, as the error names it. */
  upgradeFirst: string;
};

type Migration = { up: (db: Kysely<unknown>) => Promise<void> };
type Plan = {
  /** Files to run, in order. */
  pending: string[];
  /** Files of the baseline to record without running them. */
  replaced: string[];
};

/**
 * Runs the pending migrations of a folder (`0001-verb-noun.ts`, each exporting `up`) in order, under a lock. The lock is a
 * row that expires, because Galera does not support GET_LOCK. DDL is not transactional: each migration can run again, and
 * is recorded when it has finished.
 *
 * A database that has all migrations that the folder's baseline replaces gets the baseline recorded, not run.
 * @param options.wait waits between two attempts to take the lock; a test passes its own.
 * @returns the names of the files that ran, or with `dryRun` would run.
 * @throws an error with the code MIGRATION_LOCKED or MIGRATION_TOO_OLD.
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
  // cast: migrations create the tables, so no table type holds while they run
  const untyped = db as unknown as Kysely<unknown>;
  const { folder, log } = options;
  // planned before anything is created: a user without CREATE can start where nothing is pending
  const plan = await planMigrations(untyped, folder);
  if (options.dryRun) return plan.pending;
  if (plan.pending.length === 0) {
    // without the lock: another process may record the same, and a read-only server refuses; the next start tries again
    await record(untyped, plan.replaced).catch(() => undefined);
    return [];
  }
  await createTables(untyped);
  const holder = randomUUID();
  await takeRowLock(untyped, holder, options.wait ?? sleep);
  const renewal = setInterval(() => void renew(untyped, holder).catch(() => undefined), LOCK_RENEW_MS);
  try {
    const { pending, replaced } = await planMigrations(untyped, folder);
    await record(untyped, replaced);
    for (const file of pending) {
      const migration = (await import(pathToFileURL(path.join(folder, file)).href)) as Migration;
      await migration.up(untyped);
      await record(untyped, [file]);
      log(`migrated ${file}`);
    }
    return pending;
  } finally {
    clearInterval(renewal);
    await sql`UPDATE migration_lock SET holder = NULL WHERE id = 1 AND holder = ${holder}`.execute(untyped);
  }
}

/** @returns those of these names that neither are files of the folder nor were replaced by its baseline. */
export async function listUnknownMigrations(folder: string, names: string[]): Promise<string[]> {
  const known = new Set([...readdirSync(folder), ...((await readBaseline(folder))?.replaces ?? [])]);
  return names.filter((name) => !known.has(name));
}

async function planMigrations(db: Kysely<unknown>, folder: string): Promise<Plan> {
  const files = readdirSync(folder).filter((name) => /^\d{4}-[a-z0-9-]+\.ts$/.test(name));
  const applied = await readApplied(db);
  const missing = files.filter((name) => !applied.has(name)).sort();
  const replaced = missing.filter((name) => /^\d{4}-baseline-/.test(name));
  if (replaced.length === 0 || !(await hasReplaced(applied, folder))) return { pending: missing, replaced: [] };
  return { pending: missing.filter((name) => !replaced.includes(name)), replaced };
}

/** Whether a version before the folder's baseline made the database. @throws if that version did not finish. */
async function hasReplaced(applied: Set<string>, folder: string): Promise<boolean> {
  const baseline = await readBaseline(folder);
  if (!baseline) return false;
  const missing = baseline.replaces.filter((name) => !applied.has(name));
  if (missing.length > 0 && missing.length < baseline.replaces.length) {
    const text =
      `the database is too old for this version: it lacks ${missing.join(', ')}. ` +
      `Run \`confere migrate\` of ${baseline.upgradeFirst} on it first, then this version`;
    throw Object.assign(new Error(text), { code: MIGRATION_TOO_OLD });
  }
  return missing.length === 0;
}

async function readBaseline(folder: string): Promise<Baseline | undefined> {
  const file = path.join(folder, 'baseline.ts');
  if (!existsSync(file)) return undefined;
  return ((await import(pathToFileURL(file).href)) as { baseline: Baseline }).baseline;
}

async function readApplied(db: Kysely<unknown>): Promise<Set<string>> {
  const tables = await sql`SELECT 1 FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name IN ('migrations', 'migration_lock')`.execute(db);
  if (tables.rows.length < 2) return new Set();
  const { rows } = await sql<{ name: string }>`SELECT name FROM migrations`.execute(db);
  return new Set(rows.map((row) => row.name));
}

/** Another process may record the same baseline: then the first row stays. */
async function record(db: Kysely<unknown>, files: string[]): Promise<void> {
  for (const file of files) {
    await sql`INSERT INTO migrations (name, applied_at) VALUES (${file}, UTC_TIMESTAMP(3))
      ON DUPLICATE KEY UPDATE name = migrations.name`.execute(db);
  }
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
