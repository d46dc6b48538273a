/** Audit rows in the archive: as they were sealed, and as they are listed. */
import { archiveDirectory, readArchive } from '../archive/archive-files.ts';
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
 * Returns those of these rows that are in the archive.
 * @throws ConfereError `unavailable` if a file that may have them cannot be read.
 */
export async function findArchivedAudit(context: Context, seqs: number[]): Promise<ArchivedAuditRow[]> {
  if (seqs.length === 0) return [];
  const wanted = new Set(seqs);
  const files = await context.db
    .selectFrom('audit_archives')
    .select('file')
    .where('first_audit_seq', '<=', Math.max(...seqs))
    .where('last_audit_seq', '>=', Math.min(...seqs))
    .orderBy('first_audit_seq')
    .execute();
  const found: ArchivedAuditRow[] = [];
  for (const { file } of files)
    found.push(...(await readAuditFile(context, file)).filter(({ seq }) => wanted.has(seq)));
  return found;
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
    const rows = await readAuditFile(context, file);
    found.push(...rows.filter((row) => isWanted(row, filter)).reverse());
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
