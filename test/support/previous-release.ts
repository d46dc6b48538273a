import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../embedded/migrations/migrate.ts';
import { openDatabase } from '../../embedded/open-database.ts';
import { createTestDatabase } from './create-test-database.ts';
import { temporaryDirectory } from './start-serve.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The newest release: its tag, the commit of it (a clone may lack tags), and its last migration. Migrations after it run
 * while processes of that release work.
 */
export const PREVIOUS = {
  tag: 'v0.1.0',
  commit: 'eb5d1057cc34dfc33a3fd372915ac1546833bd4a',
  lastMigration: '0013-baseline-append-only.ts',
};

/** Columns of the previous release's tables that it does not use any more: a migration may drop these. `table.column`. */
export const UNUSED_COLUMNS: string[] = [];

/** Why tests that need the release can't run here; undefined if they can. */
export function missesRelease(): string | undefined {
  try {
    git('rev-parse', '--verify', '--quiet', `${PREVIOUS.commit}^{commit}`);
    return undefined;
  } catch {
    return `the commit of ${PREVIOUS.tag} is not here, as in a shallow clone: run git fetch --unshallow`;
  }
}

export function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** Creates a database with the tables of the previous release. */
export async function createPreviousDatabase(): ReturnType<typeof createTestDatabase> {
  using home = temporaryDirectory();
  const [from, folder] = [path.join(ROOT, 'migrations'), path.join(home.path, 'migrations')];
  mkdirSync(folder);
  const released = readdirSync(from).filter((name) => /^\d{4}-/.test(name) && name <= PREVIOUS.lastMigration);
  for (const name of [...released, 'baseline.ts']) symlinkSync(path.join(from, name), path.join(folder, name));
  const target = await createTestDatabase('empty');
  await using opened = openDatabase<unknown>(target);
  await migrate(opened.db, { folder, log: () => undefined });
  return target;
}
