/**
 * Archives that a person stated as lost for good: rows of the audit, which the chain seals and nobody can change. A stated file is
 * still read where it is there: a statement hides nothing that can be proven.
 */
import type { Reader } from '../database/reader.ts';

/** The target is the file. The books check and backups depend on these rows: RETAIN_AUDIT leaves them in the database. */
export const LOST_ACTION = 'archive.lost';

/** Returns the files that are stated as lost. */
export async function readLostArchives(db: Reader): Promise<Set<string>> {
  const rows = await db.selectFrom('audit').select('target').where('action', '=', LOST_ACTION).execute();
  return new Set(rows.map(({ target }) => target));
}
