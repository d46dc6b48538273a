/** The files of DATA_DIR and ARCHIVE_DIR, from a backup into an empty place. */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { archiveDirectory, listArchives } from '../archive/archive-files.ts';
import type { Config } from '../config.ts';
import { ConfereError } from '../domain/errors.ts';
import { spoolDirectory } from '../inbox/spool/redact-retained-files.ts';
import { nameOwner } from '../inbox/spool/spool-owner.ts';
import { ARCHIVE, DATA, SPOOL, SPOOL_FILES } from './copy-data-dir.ts';
import type { BackupDescription } from './describe-backup.ts';
import type { ReadFile } from './stored-files.ts';

const SEGMENT = /^(\d+)\..+\.spool$/;
/** A volume of its own has it. */
const NOT_OURS = new Set(['lost+found']);

/**
 * @throws ConfereError `wrong_use` if DATA_DIR, the spool or the archive is not empty, or if the backup has files for a directory
 *   that is not set.
 */
export async function refuseUsedPlace(config: Config, { data }: BackupDescription): Promise<void> {
  const home = path.resolve(config.DATA_DIR);
  const names = (await list(home)).filter((name) => !NOT_OURS.has(name));
  if (names.length > 0) {
    const shown = names.slice(0, 3).join(', ');
    throw new ConfereError('wrong_use', `${home} is not empty (${shown}): restore into an empty DATA_DIR`);
  }
  const spool = path.resolve(spoolDirectory(config));
  if ((await list(spool)).some((name) => SPOOL_FILES.test(name)))
    throw new ConfereError('wrong_use', `${spool} holds webhooks of another service: restore with an empty SPOOL_DIR`);
  const segments = data.filter((name) => name.endsWith('.spool'));
  if (segments.length > 0 && config.DATABASE_URL && !config.SPOOL_DIR)
    throw new ConfereError(
      'wrong_use',
      `the backup holds ${segments.length} segments of spooled webhooks: set SPOOL_DIR, from which serve takes them`,
    );
  await refuseUsedArchive(config, data);
}

async function refuseUsedArchive(config: Config, data: string[]): Promise<void> {
  const directory = archiveDirectory(config);
  if (directory === undefined && data.some((name) => name.startsWith(`${ARCHIVE}/`)))
    throw new ConfereError('wrong_use', 'the backup holds an archive: set ARCHIVE_DIR to an empty directory');
  if (directory === undefined) return;
  const present = [...(await listArchives(directory, 'bodies')), ...(await listArchives(directory, 'audit'))];
  if (present.length > 0)
    throw new ConfereError('wrong_use', `${directory} holds archives of a service: restore with an empty ARCHIVE_DIR`);
}

/** Writes keys, the admin's token, manifests, the spool and the archive, for their owner alone. */
export async function placeData(config: Config, { data }: BackupDescription, read: ReadFile): Promise<void> {
  // the process that spooled them may still run: serve takes segments of a process that is gone at once
  const owner = nameOwner();
  for (const name of data) {
    const file = findPlace(config, name, owner);
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await read.copy(name, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }));
  }
}

function findPlace(config: Config, name: string, owner: string): string {
  if (name.startsWith(`${SPOOL}/`))
    return path.join(path.resolve(spoolDirectory(config)), renameSegment(path.posix.basename(name), owner));
  if (name.startsWith(`${ARCHIVE}/`))
    return path.join(archiveDirectory(config) ?? '', path.posix.relative(ARCHIVE, name));
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
    throw error;
  }
}
