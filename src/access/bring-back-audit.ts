/** Audit rows that an earlier version moved into files come back into their table: the chain is checked over them. */
import { archiveDirectory, readArchive, removeArchive } from '../archive/archive-files.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { transact } from '../database/transact.ts';
import { splitList } from '../domain/lists.ts';
import { audit } from './audit.ts';

type ArchivedRow = {
  seq: number;
  id: string | null;
  at: string;
  actor: string;
  action: string;
  target: string;
  detail: string | null;
};

/** Rows of one INSERT: a detail has up to 60,000 bytes. */
const ROWS_AT_ONCE = 50;

/**
 * Brings back the rows of each file that the table lacks, and deletes the file. One transaction a file: killed between two, it continues.
 * @returns how many rows came back.
 * @throws ConfereError `unavailable` if a file is not there or cannot be read: nothing of it is changed.
 */
export async function bringBackAudit(context: Context): Promise<number> {
  const directory = archiveDirectory(context.config);
  let count = 0;
  for (const { file } of await listArchivedAudit(context.db)) {
    try {
      const rows = await readArchive<ArchivedRow>(context.keys, directory, file);
      count += await insertMissing(context, file, rows);
    } catch (error) {
      // another process has brought it back meanwhile, and deleted the file
      if (!(await listArchivedAudit(context.db)).some((left) => left.file === file)) continue;
      throw error;
    }
    await removeArchive(directory, file);
  }
  return count;
}

/** Returns the files whose rows are not all in the table. Rows of closed months never left it, within the same numbers. */
export async function listArchivedAudit(db: Reader): Promise<{ file: string; entries: number }[]> {
  const files = await db.selectFrom('audit_archives').selectAll().orderBy('first_audit_seq').execute();
  const archived: { file: string; entries: number }[] = [];
  for (const { file, entries, first_audit_seq: first, last_audit_seq: last } of files) {
    const row = await db
      .selectFrom('audit')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('seq', '>=', first)
      .where('seq', '<=', last)
      .where('action', 'not in', ['months.close', 'months.reopen', 'archive.lost'])
      .executeTakeFirstOrThrow();
    if (Number(row.count) < entries) archived.push({ file, entries });
  }
  return archived;
}

async function insertMissing({ db, clock }: Context, file: string, rows: ArchivedRow[]): Promise<number> {
  return await transact(db, async (trx) => {
    const seqs = rows.map(({ seq }) => seq);
    // two processes may start at once: the second one waits here, and finds the rows
    await trx.selectFrom('audit_archives').select('file').where('file', '=', file).forUpdate().execute();
    const present = await trx.selectFrom('audit').select('seq').where('seq', 'in', seqs).forUpdate().execute();
    const known = new Set(present.map(({ seq }) => seq));
    const missing = rows.filter(({ seq }) => !known.has(seq)).map((row) => ({ ...row, at: new Date(row.at) }));
    for (const values of splitList(missing, ROWS_AT_ONCE)) {
      await trx.insertInto('audit').values(values).execute();
    }
    const detail = JSON.stringify({ rows: missing.length });
    if (missing.length > 0)
      await audit({ db: trx, clock }, { actor: 'command', action: 'archives.restore', target: file, detail });
    return missing.length;
  });
}
