/** The files of DATA_DIR, from a backup into an empty place. */
import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { archiveDirectory } from '../archive/archive-files.ts';
import type { Config } from '../config.ts';
import { DATA_DIR_LOCK } from '../database/open/lock-data-dir.ts';
import { restoreMarkFile } from '../database/open/restore-mark.ts';
import { wrongUse } from '../domain/errors.ts';
import { spoolDirectory } from '../inbox/spool/redact-retained-files.ts';
import { nameOwner } from '../inbox/spool/spool-owner.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { ARCHIVE, DATA, SPOOL, SPOOL_FILES } from './copy-data-dir.ts';
import type { BackupDescription } from './describe-backup.ts';
import { flushDirectory } from './flush.ts';
import type { ReadFile } from './stored-files.ts';

const SEGMENT = /^(\d+)\..+\.spool$/;
/** A volume of its own has it. */
const NOT_OURS = 'lost+found';
/** Folders that a new server has. */
const SYSTEM_FOLDER = /^(?:mysql|performance_schema|sys|#.*)$/;

/**
 * @throws ConfereError `wrong_use` if DATA_DIR or the spool is not empty, or if the backup has files for a directory
 *   that is not set.
 */
export async function refuseUsedPlace(config: Config, { data }: BackupDescription): Promise<void> {
  const home = path.resolve(config.DATA_DIR);
  const used: string[] = [];
  for (const name of await list(home)) if (await isUsed(home, name)) used.push(name);
  if (used.length > 0) {
    const shown = used.slice(0, 3).join(', ');
    throw wrongUse(`${home} is not empty (${shown}): restore into an empty DATA_DIR`);
  }
  const spool = path.resolve(spoolDirectory(config));
  if ((await list(spool)).some((name) => SPOOL_FILES.test(name)))
    throw wrongUse(`${spool} holds webhooks of another service: restore with an empty SPOOL_DIR`);
  const segments = data.filter((name) => name.endsWith('.spool'));
  if (segments.length > 0 && config.DATABASE_URL && !config.SPOOL_DIR)
    throw wrongUse(
      `the backup holds ${segments.length} segments of spooled webhooks: set SPOOL_DIR, from which serve takes them`,
    );
}

/** Whether DATA_DIR holds anything by this name. A start that failed leaves a lock, empty folders, and a server without databases. */
async function isUsed(home: string, name: string): Promise<boolean> {
  if (name === NOT_OURS || name.startsWith(DATA_DIR_LOCK) || name === path.basename(restoreMarkFile(home)))
    return false;
  const file = path.join(home, name);
  if (!(await stat(file)).isDirectory()) return true;
  if (name === 'mariadb') return await hasDatabases(path.join(file, 'data'));
  return (await readdir(file, { recursive: true, withFileTypes: true })).some((entry) => !entry.isDirectory());
}

async function hasDatabases(data: string): Promise<boolean> {
  if (!existsSync(data)) return false;
  const entries = await readdir(data, { withFileTypes: true });
  return entries.some((entry) => entry.isDirectory() && !SYSTEM_FOLDER.test(entry.name));
}

/** A file of the backup, and the absolute path where it is placed. */
export type PlacedFile = { name: string; file: string };

/** Says where keys, the admin's token, manifests, the spool and the archive are placed. */
export function planFiles(config: Config, { data }: BackupDescription): PlacedFile[] {
  // the process that spooled them may still run: serve takes segments of a process that is gone at once
  const owner = nameOwner();
  return data.map((name) => ({ name, file: findPlace(config, name, owner) }));
}

/** Writes the files durably, for their owner alone. */
export async function placeFiles(files: PlacedFile[], read: ReadFile): Promise<void> {
  const folders = new Set<string>();
  for (const { name, file } of files) {
    const folder = path.dirname(file);
    const created = await mkdir(folder, { recursive: true, mode: 0o700 });
    folders.add(folder);
    for (let made = folder; created !== undefined && made !== path.dirname(created); ) {
      made = path.dirname(made);
      folders.add(made);
    }
    await read.copy(name, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }));
  }
  for (const folder of folders) await flushDirectory(folder);
}

function findPlace(config: Config, name: string, owner: string): string {
  if (name.startsWith(`${SPOOL}/`))
    return path.join(path.resolve(spoolDirectory(config)), renameSegment(path.posix.basename(name), owner));
  if (name.startsWith(`${ARCHIVE}/`)) return path.join(archiveDirectory(config), path.posix.relative(ARCHIVE, name));
  return path.join(path.resolve(config.DATA_DIR), path.posix.relative(DATA, name));
}

function renameSegment(name: string, owner: string): string {
  const [, begunAt] = SEGMENT.exec(name) ?? [];
  return begunAt === undefined ? name : `${begunAt}.${owner}.${randomBytes(4).toString('hex')}.spool`;
}

async function list(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw wrongUse(describeFailure(error), { cause: error });
  }
}
