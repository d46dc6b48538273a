/**
 * Files of the archive: `<ARCHIVE_DIR>/2025-10/000000012345-1a2b3c4d.bodies`, by the month of the rows, the first row number, a
 * random part and the kind. A file is JSON lines, compressed and encrypted. Files are written whole and never overwritten, but
 * by `confere forget`.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Config } from '../config.ts';
import type { Keys } from '../database/keys/settings.ts';
import type { Place } from '../database/keys/vault.ts';
import { ConfereError } from '../domain/errors.ts';

export type ArchiveKind = 'bodies' | 'audit';

const ROW_DIGITS = 12;
const MONTH = /^\d{4}-\d{2}$/;
const DRAFT = '.draft';
/** A file is written within seconds: its process was killed. */
const DRAFT_MS_MAX = 3_600_000;
/** Far above the bytes of one batch. */
const CONTENT_BYTES_MAX = 64 * 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** @returns the folder of the archive; undefined without one: then everything stays in the database. */
export function archiveDirectory({ ARCHIVE_DIR, DATABASE_URL, DATA_DIR }: Config): string | undefined {
  const directory = ARCHIVE_DIR ?? (DATABASE_URL === undefined ? path.join(DATA_DIR, 'archive') : undefined);
  return directory === undefined ? undefined : path.resolve(directory);
}

/** The name of a new file, relative to the directory. @param month `2025-10`. */
export function nameArchive(kind: ArchiveKind, month: string, firstSeq: number): string {
  return `${month}/${String(firstSeq).padStart(ROW_DIGITS, '0')}-${randomBytes(4).toString('hex')}.${kind}`;
}

/** @returns the names of all files of these kinds, also of those that no row names. */
export async function listArchives(directory: string, ...kinds: ArchiveKind[]): Promise<string[]> {
  return (await listFiles(directory)).filter((name) => kinds.some((kind) => name.endsWith(`.${kind}`)));
}

/** Deletes drafts of processes that were killed: they hold rows that are still in the database. */
export async function removeDrafts(directory: string): Promise<void> {
  for (const name of (await listFiles(directory)).filter((one) => one.endsWith(DRAFT))) {
    const file = path.join(directory, name);
    const found = await stat(file).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > DRAFT_MS_MAX) await rm(file, { force: true });
  }
}

/**
 * Writes a file durably: when this returns, a power cut leaves it whole.
 * @returns its bytes.
 */
export async function writeArchive(
  keys: Keys,
  directory: string,
  name: string,
  lines: readonly object[],
): Promise<number> {
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const content = keys.archive.encrypt(await compress(text), placeOf(name));
  const file = path.join(directory, name);
  const folder = path.dirname(file);
  const created = await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${file}${DRAFT}`;
  await using handle = await open(draft, 'w', 0o600);
  await handle.writeFile(content);
  await handle.sync();
  await rename(draft, file);
  const parents = created === undefined ? [] : [path.dirname(created)];
  for (const one of [folder, directory, ...parents]) await flushDirectory(one);
  return content.length;
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
      `the archive ${file} ${why}: is ARCHIVE_DIR the same for all processes? If it is lost for good: confere retention --lost`,
      {
        cause: error,
      },
    );
  }
}

/** A file opens under its own name. */
function placeOf(name: string): Place {
  return { purpose: 'archive', row: [name] };
}

/** Deletes a file that no row names. */
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

async function flushDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, 'r');
  await handle.sync();
}
