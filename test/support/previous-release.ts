import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The newest release: its tag, and its last migration. Migrations after it run while processes of that release work. */
export const PREVIOUS = { tag: 'v0.1.0', lastMigration: '0013-baseline-append-only.ts' };

/** Columns of the previous release's tables that it does not use any more: a migration may drop these. `table.column`. */
export const UNUSED_COLUMNS: string[] = [];

/** Why tests that need the tag can't run here; undefined if they can. */
export function missesTag(): string | undefined {
  try {
    git('rev-parse', '--verify', '--quiet', `${PREVIOUS.tag}^{commit}`);
    return undefined;
  } catch {
    return `the tag ${PREVIOUS.tag} is not here, as in a shallow clone: run git fetch --tags --unshallow`;
  }
}

export function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
