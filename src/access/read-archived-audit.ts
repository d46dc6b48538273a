/** Audit rows in the archive: as they were sealed, and as they are listed. */
import { archiveDirectory, readArchive } from '../archive/archive-files.ts';
import { readLostArchives } from '../archive/lost-archives.ts';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import type { AuditFilter } from './list-audit.ts';

export type ArchivedAuditRow = {
  seq: number;
  id: string | null;
  at: Date;
  actor: string;
  action: string;
  target: string;
  detail: string | null;
};

/** @throws ConfereError `unavailable` if the file is not there or cannot be read. */
export async function readAuditFile(
  { config, keys }: Pick<Context, 'config' | 'keys'>,
  file: string,
): Promise<ArchivedAuditRow[]> {
  const directory = archiveDirectory(config);
  if (directory === undefined)
    throw new ConfereError('unavailable', 'ARCHIVE_DIR is not set in this process: it has a part of the audit');
  const lines = await readArchive<Omit<ArchivedAuditRow, 'at'> & { at: string }>(keys, directory, file);
  return lines.map((line) => ({ ...line, at: new Date(line.at) }));
}

/**
 * Returns those of these rows that are in the archive. `lost` has the files that cannot be read and are stated as lost, each with the
 * rows that may have been in it.
 * @throws ConfereError `unavailable` if another file that may have them cannot be read.
 */
export async function findArchivedAudit(
  context: Context,
  seqs: number[],
): Promise<{ found: ArchivedAuditRow[]; lost: { file: string; seqs: number[] }[] }> {
  const found: ArchivedAuditRow[] = [];
  const lost: { file: string; seqs: number[] }[] = [];
  if (seqs.length === 0) return { found, lost };
  const wanted = new Set(seqs);
  const files = await context.db
    .selectFrom('audit_archives')
    .select(['file', 'first_audit_seq as first', 'last_audit_seq as last'])
    .where('first_audit_seq', '<=', Math.max(...seqs))
    .where('last_audit_seq', '>=', Math.min(...seqs))
    .orderBy('first_audit_seq')
    .execute();
  for (const { file, first, last } of files) {
    const rows = await readUnlessLost(context, file);
    if (rows) found.push(...rows.filter(({ seq }) => wanted.has(seq)));
    else lost.push({ file, seqs: seqs.filter((seq) => seq >= first && seq <= last) });
  }
  return { found, lost };
}

/** @returns undefined if the file cannot be read and is stated as lost. */
async function readUnlessLost(context: Context, file: string): Promise<ArchivedAuditRow[] | undefined> {
  try {
    return await readAuditFile(context, file);
  } catch (error) {
    if ((await readLostArchives(context.db)).has(file)) return undefined;
    throw error;
  }
}

/** Returns archived rows, newest first. A filter by target also finds rows whose detail names it. */
export async function listArchivedAudit(
  context: Context,
  filter: AuditFilter,
  limit: number,
): Promise<ArchivedAuditRow[]> {
  const files = await context.db
    .selectFrom('audit_archives')
    .select('file')
    .orderBy('first_audit_seq', 'desc')
    .execute();
  const found: ArchivedAuditRow[] = [];
  for (const { file } of files) {
    if (found.length >= limit) break;
    const rows = await readUnlessLost(context, file);
    if (!rows) context.log.warn({ archive: file }, 'an archive is stated as lost: its rows cannot be listed');
    found.push(...(rows ?? []).filter((row) => isWanted(row, filter)).reverse());
  }
  return found.slice(0, limit);
}

function isWanted(row: ArchivedAuditRow, { actor, action, target, from, to }: AuditFilter): boolean {
  return (
    (actor === undefined || row.actor === actor) &&
    (action === undefined || row.action === action) &&
    (target === undefined || row.target === target || (row.detail?.includes(JSON.stringify(target)) ?? false)) &&
    (from === undefined || row.at >= from) &&
    (to === undefined || row.at < to)
  );
}
