/**
 * Files of the archive of an earlier version: `DATA_DIR/archive/2025-10/000000012345-1a2b3c4d.bodies`, by the month of the rows, the first
 * row number, a random part and the kind. A file is JSON lines, compressed and encrypted.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Config } from '../config.ts';
import type { Keys } from '../database/keys/settings.ts';
import type { Place } from '../database/keys/vault.ts';
import { ConfereError } from '../domain/errors.ts';

export type ArchiveKind = 'bodies' | 'audit';

const MONTH = /^\d{4}-\d{2}$/;
/** Far above the bytes of one file. */
const CONTENT_BYTES_MAX = 64 * 1024 * 1024;

const decompress = promisify(gunzip);

/** @returns the folder of the archive, which need not exist. */
export function archiveDirectory({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string {
  return path.resolve(DATA_DIR, 'archive');
}

/** @returns the names of all files of these kinds, also of those that no row names. */
export async function listArchives(directory: string, ...kinds: ArchiveKind[]): Promise<string[]> {
  return (await listFiles(directory)).filter((name) => kinds.some((kind) => name.endsWith(`.${kind}`)));
}

/**
 * @returns the lines of a file.
 * @throws ConfereError `unavailable` if the file is not there or cannot be read.
 */
export async function readArchive<Line>(keys: Keys, directory: string, name: string): Promise<Line[]> {
  const file = path.join(directory, name);
  try {
    const compressed = keys.archive.decrypt(await readFile(file), placeOf(name));
    const text = (await decompress(compressed, { maxOutputLength: CONTENT_BYTES_MAX })).toString();
    return text.split('\n').map((line) => JSON.parse(line) as Line);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'is not there' : `cannot be read (${code ?? 'damaged, or of another database'})`;
    throw new ConfereError(
      'unavailable',
      `the archive ${file} ${why}: place the ARCHIVE_DIR of the earlier version at DATA_DIR/archive, or take the file from a backup`,
      { cause: error },
    );
  }
}

/** A file opens under its own name. */
function placeOf(name: string): Place {
  return { purpose: 'archive', row: [name] };
}

/** Deletes a file. */
export async function removeArchive(directory: string, name: string): Promise<void> {
  await rm(path.join(directory, name), { force: true });
}

/** Files in the folders of months, as `2025-10/name`. */
async function listFiles(directory: string): Promise<string[]> {
  const months = (await list(directory)).filter((name) => MONTH.test(name));
  const files = await Promise.all(
    months.map(async (month) => (await list(path.join(directory, month))).map((name) => `${month}/${name}`)),
  );
  return files.flat();
}

async function list(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
