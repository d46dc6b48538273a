import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a directory, and those above it. Unlike mkdirSync with `recursive`, it ends where none can be made: that one tries for
 * ever under `/proc`.
 * @param mode of each directory that is made.
 * @throws the system's error, with the path that can't be made; ENOTDIR with the path of a file that is in its place.
 */
export function makeDirectory(directory: string, mode = 0o700): void {
  if (isDirectory(directory)) return;
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = path.dirname(directory);
    // EEXIST: another process was faster
    if (code === 'EEXIST' && isDirectory(directory)) return;
    if (code !== 'ENOENT' || isDirectory(parent)) throw error;
    makeDirectory(parent, mode);
    makeDirectory(directory, mode);
  }
}

/** @throws Error with the code ENOTDIR for something else of this name. */
function isDirectory(directory: string): boolean {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found && !found.isDirectory())
    throw Object.assign(new Error(`ENOTDIR: not a directory, '${directory}'`), {
      ...{ code: 'ENOTDIR', syscall: 'mkdir', path: directory },
    });
  return found !== undefined;
}
