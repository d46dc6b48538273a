/**
 * Moves audit rows that are older than RETAIN_AUDIT into files. Only sealed rows move, and the books check reads them from their
 * files: the chain proves them as before. A trigger refuses the deletion of rows that `audit_archives` does not name, and a user
 * with restricted grants cannot delete any.
 */
import { sql } from 'kysely';
import { archiveDirectory, nameArchive, removeArchive, removeDrafts, writeArchive } from '../archive/archive-files.ts';
import { LOST_ACTION, requireMounted } from '../archive/lost-archives.ts';
import type { Context } from '../context.ts';
import { isRightMissing } from '../database/open/explain-failure.ts';
import { RETENTION_BATCH_ROWS, type RetentionStep } from '../database/retention-step.ts';
import { transact } from '../database/transact.ts';
import { ConfereError, InvariantError } from '../domain/errors.ts';
import { audit } from './audit.ts';
import { type ArchivedAuditRow, readAuditFile } from './read-archived-audit.ts';

/** The books check compares closed months with these rows, and asks them for archives that are lost. */
const KEPT_ACTIONS = ['months.close', 'months.reopen', LOST_ACTION];
/** A detail has up to 60,000 bytes. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

export function auditRetention(context: Context): RetentionStep {
  const directory = archiveDirectory(context.config);
  return {
    name: 'audit',
    setting: 'RETAIN_AUDIT',
    keepMs: context.config.RETAIN_AUDIT,
    note: directory === undefined ? 'ARCHIVE_DIR is not set: the audit stays in the database' : undefined,
    async *run({ before, write }) {
      if (directory === undefined) return;
      if (write) {
        await requireMounted(context.db, directory);
        await removeDrafts(directory);
      }
      for (let after = await readLastArchived(context); ; ) {
        const rows = await findBatch(context, after, before);
        if (rows.length === 0) return;
        await requireRight(context);
        if (!write || (await archiveBatch(context, directory, rows))) yield rows.length;
        after = rows.at(-1)?.seq ?? after;
      }
    },
  };
}

async function readLastArchived({ db }: Context): Promise<number> {
  const row = await db
    .selectFrom('audit_archives')
    .select((eb) => eb.fn.max('last_audit_seq').as('seq'))
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}

/** The next sealed rows above a number that one file takes; none if nothing above it is old enough. */
async function findBatch({ db, calendar }: Context, after: number, before: Date): Promise<ArchivedAuditRow[]> {
  const sealed = await db
    .selectFrom('seals')
    .select((eb) => eb.fn.max('audit_seq').as('seq'))
    .executeTakeFirst();
  const rows = await db
    .selectFrom('audit')
    .select(['seq', 'id', 'at', 'actor', 'action', 'target', 'detail'])
    .where('seq', '>', after)
    .where('seq', '<=', Number(sealed?.seq ?? 0))
    .where('action', 'not in', KEPT_ACTIONS)
    .orderBy('seq')
    .limit(RETENTION_BATCH_ROWS)
    .execute();
  const month = rows[0] && calendar.dayOf(rows[0].at).slice(0, 7);
  let bytes = 0;
  const end = rows.findIndex((row) => {
    bytes += row.detail?.length ?? 0;
    return row.at >= before || calendar.dayOf(row.at).slice(0, 7) !== month || bytes > FILE_BYTES_MAX;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

/** @returns false, with no file left, if another process archived the rows. */
async function archiveBatch(context: Context, directory: string, rows: ArchivedAuditRow[]): Promise<boolean> {
  const [first] = rows;
  if (!first) throw new InvariantError('a batch of the archive is empty');
  const name = nameArchive('audit', context.calendar.dayOf(first.at).slice(0, 7), first.seq);
  const bytes = await writeArchive(context.keys, directory, name, rows);
  const stored = await readAuditFile(context, name);
  if (JSON.stringify(stored) !== JSON.stringify(rows))
    throw new InvariantError(`the archive ${name} was not stored as it was written`);
  const isMoved = await moveRows(context, { name, bytes, seqs: rows.map(({ seq }) => seq) });
  if (!isMoved) await removeArchive(directory, name);
  return isMoved;
}

/** @throws ConfereError `forbidden` where rows of the audit are due for the archive, and this user may not delete them. */
export async function requireAuditMoves(context: Context): Promise<void> {
  const { RETAIN_AUDIT } = context.config;
  if (RETAIN_AUDIT === 'off' || archiveDirectory(context.config) === undefined) return;
  const before = new Date(context.clock.now().getTime() - RETAIN_AUDIT);
  const rows = await findBatch(context, await readLastArchived(context), before);
  if (rows.length > 0) await requireRight(context);
}

/** Before a file is written. A grant may come through a role, so a statement is run that matches no row. */
async function requireRight({ db }: Context): Promise<void> {
  try {
    await db.deleteFrom('audit').where(sql<boolean>`1 = 0`).execute();
  } catch (error) {
    if (!isRightMissing(error)) throw error;
    throw new ConfereError(
      'forbidden',
      'this user may not delete from the audit: run confere retention as the user that migrates, or set RETAIN_AUDIT=off',
      { cause: error },
    );
  }
}

/** Records the file and deletes its rows. @returns false, with nothing written, if one of them is gone. */
async function moveRows(
  { db, clock }: Context,
  { name, bytes, seqs }: { name: string; bytes: number; seqs: number[] },
): Promise<boolean> {
  const [first = 0, last = 0] = [seqs[0], seqs.at(-1)];
  return await transact(db, async (trx, mayBeDone) => {
    const recorded = trx.selectFrom('audit_archives').select('file').where('file', '=', name);
    if (mayBeDone && (await recorded.executeTakeFirst())) return true;
    const current = await trx.selectFrom('audit').select('seq').where('seq', 'in', seqs).forUpdate().execute();
    if (current.length !== seqs.length) return false;
    await trx
      .insertInto('audit_archives')
      .values({
        ...{ first_audit_seq: first, last_audit_seq: last, file: name },
        ...{ entries: seqs.length, file_bytes: bytes, archived_at: clock.now() },
      })
      .execute();
    await trx.deleteFrom('audit').where('seq', 'in', seqs).execute();
    const detail = JSON.stringify({ from: `au_${first}`, to: `au_${last}`, rows: seqs.length });
    await audit({ db: trx, clock }, { actor: 'command', action: 'audit.archive', target: name, detail });
    return true;
  });
}
