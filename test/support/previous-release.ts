import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

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
