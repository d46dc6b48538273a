/**
 * Archives that a person stated as lost for good: rows of the audit, which the chain seals and nobody can change. A stated file is
 * still read where it is there: a statement hides nothing that can be proven. And the guard against a mount that is missing.
 */
import type { Reader } from '../database/reader.ts';
import { ConfereError } from '../domain/errors.ts';
import { listArchives } from './archive-files.ts';

/** The target is the file. The books check and backups depend on these rows: RETAIN_AUDIT leaves them in the database. */
export const LOST_ACTION = 'archive.lost';

/** Returns the files that are stated as lost. */
export async function readLostArchives(db: Reader): Promise<Set<string>> {
  const rows = await db.selectFrom('audit').select('target').where('action', '=', LOST_ACTION).execute();
  return new Set(rows.map(({ target }) => target));
}

/**
 * Refuses a directory that may be the empty place of a mount: what is written into it would be hidden once the mount is back.
 * @throws ConfereError `unavailable` if none of the archives that the database names, and nobody stated as lost, is in the directory.
 */
export async function requireMounted(db: Reader, directory: string): Promise<void> {
  const stated = await readLostArchives(db);
  const recorded = [
    ...(await db.selectFrom('body_archives').select('file').execute()),
    ...(await db.selectFrom('audit_archives').select('file').execute()),
  ];
  const expected = recorded.map(({ file }) => file).filter((file) => !stated.has(file));
  const present = new Set(await listArchives(directory, 'bodies', 'audit'));
  if (expected.length === 0 || expected.some((file) => present.has(file))) return;
  throw new ConfereError(
    'unavailable',
    `${directory} has none of its ${expected.length} archives, as if it were not mounted: mount it. If all are lost for good, state it of each: confere retention --lost FILE`,
  );
}
