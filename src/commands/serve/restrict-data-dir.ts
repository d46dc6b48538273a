import { chmodSync, type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { makeDataDir } from '../../database/open/make-data-dir.ts';
import { describeError, type Log } from '../../log.ts';

/** Permission bits of group and others. */
const OTHERS = 0o077;

/** Names that Confere writes into DATA_DIR. Other files there keep their modes. */
const OURS = /^(?:mariadb|spool|reports|manifests|sandbox|admin-token.*|secret\.key.*|confere.*)$/;

/**
 * Creates DATA_DIR, and removes the permissions of group and others from it and from Confere's files in it, which earlier
 * versions left to the system's umask. Links are left alone, and so is DATA_DIR itself where it holds other files.
 */
export function restrictDataDir(dataDir: string, log: Log): void {
  const root = path.resolve(dataDir);
  makeDataDir(root);
  try {
    const entries = readdirSync(root, { withFileTypes: true });
    const ours = entries.filter((entry) => OURS.test(entry.name));
    const isOwn = ours.length === entries.length;
    const closed = ours.reduce((sum, entry) => sum + closeEntry(root, entry), isOwn && close(root) ? 1 : 0);
    if (closed > 0) log.info({ closed }, 'removed the permissions of group and others from files under DATA_DIR');
  } catch (error) {
    log.warn(
      { error: describeError(error) },
      'could not remove the permissions of others from DATA_DIR: see docs/install.md',
    );
  }
}

/** @returns how many files were open to others. */
function closeTree(directory: string): number {
  const entries = unlessGone(() => readdirSync(directory, { withFileTypes: true })) ?? [];
  return entries.reduce((sum, entry) => sum + closeEntry(directory, entry), close(directory) ? 1 : 0);
}

function closeEntry(directory: string, entry: Dirent): number {
  const file = path.join(directory, entry.name);
  return entry.isDirectory() ? closeTree(file) : entry.isFile() && close(file) ? 1 : 0;
}

/** @returns whether the file was open to others. */
function close(file: string): boolean {
  const mode = unlessGone(() => lstatSync(file).mode) ?? 0;
  if ((mode & OTHERS) === 0) return false;
  unlessGone(() => chmodSync(file, mode & 0o7777 & ~OTHERS));
  return true;
}

/** Files of the database and drafts may disappear meanwhile. */
function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
