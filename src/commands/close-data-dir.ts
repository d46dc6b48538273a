import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describeError, type Log } from '../log.ts';

/** What group and others may do. */
const OTHERS = 0o077;

/**
 * Makes DATA_DIR, and takes from group and others what an earlier version, which kept to the system's umask, gave them.
 * A link is left alone: what it leads to is not ours.
 */
export function closeDataDir(dataDir: string, log: Log): void {
  const root = path.resolve(dataDir);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  try {
    const closed = closeTree(root);
    if (closed > 0) log.info({ closed }, 'files under DATA_DIR that others could read are closed to them');
  } catch (error) {
    log.warn({ error: describeError(error) }, 'DATA_DIR could not be closed to others: see docs/operating.md');
  }
}

/** @returns how many were open. */
function closeTree(directory: string): number {
  const entries = unlessGone(() => readdirSync(directory, { withFileTypes: true })) ?? [];
  const inside = entries.map((entry) => {
    const file = path.join(directory, entry.name);
    return entry.isDirectory() ? closeTree(file) : entry.isFile() && close(file) ? 1 : 0;
  });
  return inside.reduce((sum, count) => sum + count, close(directory) ? 1 : 0);
}

/** @returns whether it was open. */
function close(file: string): boolean {
  const mode = unlessGone(() => lstatSync(file).mode) ?? 0;
  if ((mode & OTHERS) === 0) return false;
  unlessGone(() => chmodSync(file, mode & 0o7777 & ~OTHERS));
  return true;
}

/** Files of the database's, and drafts, may go meanwhile. */
function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
