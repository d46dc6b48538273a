/**
 * States on the record that archives are lost for good. Until then the check of the whole books, backups and `confere doctor` fail
 * at each file that cannot be read: it may be a mount that is missing. Only the audit is written.
 */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { auditChangeOnce } from '../access/audit.ts';
import { archiveDirectory, readArchive } from '../archive/archive-files.ts';
import { LOST_ACTION, readLostArchives, requireMounted } from '../archive/lost-archives.ts';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';

/** EACCES, EIO, ESTALE: not the faults of a content that cannot be decrypted. */
const SYSTEM_ERROR = /^E[A-Z0-9]+$/;

/** A file that cannot be read. `rows`: bodies or rows of the audit. `fault`: why, in a few words. */
export type LostArchive = { file: string; kind: 'bodies' | 'audit'; rows: number; fault: string };
export type LostStatement = { by: string; reason: string };

/**
 * @param files names as `confere doctor` prints them, or `all`: each one that cannot be read.
 * @param options.write false states nothing.
 * @returns those that are stated now. Files that were stated before are left out.
 * @throws ConfereError `wrong_use` for a file that no row names or that can be read, and where ARCHIVE_DIR cannot be listed: then
 *   nothing is stated. `unavailable` for `all` where the directory has none of the archives, as if it were not mounted.
 */
export async function stateLostArchives(
  context: Context,
  files: string[] | 'all',
  { by, reason, write }: LostStatement & { write: boolean },
): Promise<LostArchive[]> {
  const directory = await requireDirectory(context);
  const stated = await readLostArchives(context.db);
  const recorded = await listRecorded(context);
  const lost: LostArchive[] = [];
  for (const file of files === 'all' ? recorded.keys() : new Set(files)) {
    context.signal.throwIfAborted();
    const archive = recorded.get(file);
    if (!archive) throw new ConfereError('wrong_use', `no archive is named ${file}: write it as confere doctor does`);
    if (stated.has(file)) continue;
    const fault = await findFault(context, directory, file);
    if (fault !== undefined) lost.push({ ...archive, fault });
    else if (files !== 'all') throw new ConfereError('wrong_use', `the archive ${file} can be read: it is not lost`);
  }
  if (!write) return lost;
  if (files === 'all' && lost.length > 0) await requireMounted(context.db, directory);
  const now: LostArchive[] = [];
  for (const archive of lost) {
    const { file, ...detail } = archive;
    const done = { action: LOST_ACTION, target: file, detail: JSON.stringify({ ...detail, by, reason }) };
    const isFirst = await auditChangeOnce(context, keyOf(file), async () => true, { actor: 'command', ...done });
    if (isFirst) now.push(archive);
  }
  return now;
}

/** Of the statement: of two commands at once only one states the file. */
function keyOf(file: string): string {
  return createHash('sha256').update(`${LOST_ACTION} ${file}`).digest('hex').slice(0, 32);
}

async function requireDirectory({ config }: Context): Promise<string> {
  const directory = archiveDirectory(config);
  if (directory === undefined)
    throw new ConfereError('wrong_use', 'ARCHIVE_DIR is not set: without it no archive can be read');
  try {
    await readdir(directory);
    return directory;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ConfereError(
      'wrong_use',
      `${directory} can't be listed (${code}): mount it, or create it if it is lost`,
      {
        cause,
      },
    );
  }
}

async function listRecorded({ db }: Context): Promise<Map<string, Omit<LostArchive, 'fault'>>> {
  const bodies = await db.selectFrom('body_archives').select(['file', 'bodies as rows']).orderBy('file').execute();
  const audit = await db.selectFrom('audit_archives').select(['file', 'entries as rows']).orderBy('file').execute();
  const all = [
    ...bodies.map((one) => ({ ...one, kind: 'bodies' as const })),
    ...audit.map((one) => ({ ...one, kind: 'audit' as const })),
  ];
  return new Map(all.map((one) => [one.file, one]));
}

/**
 * @returns why a file is lost; undefined if it can be read.
 * @throws ConfereError `wrong_use` for a fault that may pass, such as a missing right or a disk error.
 */
async function findFault({ keys }: Context, directory: string, file: string): Promise<string | undefined> {
  try {
    await readArchive(keys, directory, file);
    return undefined;
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'is not there';
    if (code === undefined || !SYSTEM_ERROR.test(code)) return 'is damaged, or its key is lost';
    throw new ConfereError(
      'wrong_use',
      `the archive ${file} may be whole: reading it fails with ${code}, repair that`,
      {
        cause: error,
      },
    );
  }
}
