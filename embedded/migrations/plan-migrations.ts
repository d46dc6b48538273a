import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Kysely, sql } from 'kysely';
import { VERSION } from '../version.ts';

/** Error code: the database has some of the migrations that a baseline replaces, but not all. */
export const MIGRATION_TOO_OLD = 'MIGRATION_TOO_OLD';
/** Error code: the database has migrations that this version does not have. */
export const MIGRATION_TOO_NEW = 'MIGRATION_TOO_NEW';

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

/** A folder of migrations, and the version of the program that has it: by default this one's. */
export type MigrationFolder = { folder: string; version?: string };

export type MigrationPlan = {
  /** Files to run, in order. */
  pending: string[];
  /** Files of the baseline to record without running them. */
  replaced: string[];
};

/** The recorded migrations by file name, with the version that ran them if it was recorded. */
type Applied = Map<string, string | undefined>;

/**
 * Compares a folder of migrations with what a database has recorded. Changes nothing.
 * @throws an error with the code MIGRATION_TOO_OLD or MIGRATION_TOO_NEW.
 */
export async function planMigrations(
  db: Kysely<unknown>,
  { folder, version = VERSION }: MigrationFolder,
): Promise<MigrationPlan> {
  const files = readdirSync(folder)
    .filter((name) => /^\d{4}-[a-z0-9-]+\.ts$/.test(name))
    .sort();
  const applied = await readApplied(db);
  const baseline = await readBaseline(folder);
  refuseNewer(applied, await listUnknownMigrations(folder, [...applied.keys()]), files, version);
  const missing = files.filter((name) => !applied.has(name));
  const replaced = missing.filter((name) => /^\d{4}-baseline-/.test(name));
  if (replaced.length === 0 || !baseline || !hasReplaced(applied, baseline)) return { pending: missing, replaced: [] };
  return { pending: missing.filter((name) => !replaced.includes(name)), replaced };
}

/** @returns those of these names that neither are files of the folder nor were replaced by its baseline. */
export async function listUnknownMigrations(folder: string, names: string[]): Promise<string[]> {
  const known = new Set([...readdirSync(folder), ...((await readBaseline(folder))?.replaces ?? [])]);
  return names.filter((name) => !known.has(name));
}

async function readBaseline(folder: string): Promise<Baseline | undefined> {
  const file = path.join(folder, 'baseline.ts');
  if (!existsSync(file)) return undefined;
  return ((await import(pathToFileURL(file).href)) as { baseline: Baseline }).baseline;
}

/** An older version would write rows without what the newer one needs. */
function refuseNewer(applied: Applied, unknown: string[], files: string[], version: string): void {
  const newest = unknown.toSorted().at(-1);
  if (newest === undefined) return;
  const by = applied.get(newest);
  const text =
    `the database was migrated by ${by ? `version ${by}` : 'a newer version'} (it has ${newest}), and this is version ` +
    `${version} (its last migration is ${files.at(-1)}): start ${by ? `version ${by}` : 'that version'} or a later one`;
  throw Object.assign(new Error(text), { code: MIGRATION_TOO_NEW });
}

/** Whether a version before the folder's baseline made the database. @throws if that version did not finish. */
function hasReplaced(applied: Applied, { replaces, upgradeFirst }: Baseline): boolean {
  const missing = replaces.filter((name) => !applied.has(name));
  if (missing.length > 0 && missing.length < replaces.length) {
    const text =
      `the database is too old for this version: it lacks ${missing.join(', ')}. ` +
      `Run \`confere migrate\` of ${upgradeFirst} on it first, then this version`;
    throw Object.assign(new Error(text), { code: MIGRATION_TOO_OLD });
  }
  return missing.length === 0;
}

async function readApplied(db: Kysely<unknown>): Promise<Applied> {
  const tables = await sql`SELECT 1 FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name IN ('migrations', 'migration_lock')`.execute(db);
  if (tables.rows.length < 2) return new Map();
  // every column: earlier versions made the table without `version`
  const { rows } = await sql<{ name: string; version?: string | null }>`SELECT * FROM migrations`.execute(db);
  return new Map(rows.map((row) => [row.name, row.version ?? undefined]));
}
