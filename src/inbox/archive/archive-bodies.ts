/**
 * Moves bodies of applied webhooks that are older than RETAIN_BODIES into files. The row stays, with its hash: the same bytes
 * are still a repeat.
 *
 * A file has one batch of one month. It is written, flushed, read again and compared before a transaction empties the rows and
 * records the file; that transaction locks the rows, and gives up if one changed since it was read. So a body is in its row or
 * in a file at any instant. A run continues above the last archived row. A webhook below it that is applied only now, after
 * months in quarantine, keeps its body in its row.
 */
import { archiveDirectory, nameArchive, removeArchive, removeDrafts } from '../../archive/archive-files.ts';
import { requireMounted } from '../../archive/lost-archives.ts';
import type { Context } from '../../context.ts';
import { RETENTION_BATCH_ROWS, type RetentionStep } from '../../database/retention-step.ts';
import { transact } from '../../database/transact.ts';
import { ConfereError, InvariantError } from '../../domain/errors.ts';
import { webhookIdOf } from '../../domain/webhook-id.ts';
import { clearBodies } from '../receive/drop-bodies.ts';
import { type ArchivedBody, readBodies, writeBodies } from './body-files.ts';

/** Of the bodies of one file, before they are compressed: it is read whole to show one of them. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** A row changes while its file is written if a person in it is being forgotten, or if somebody else archives it. */
const CONFLICTS_MAX = 10;

type Row = { seq: number; received_at: Date; body_bytes: number; dropped_at: Date | null };
type Batch = { rows: Row[]; bytes: number; month: string };

export function bodyRetention(context: Context): RetentionStep {
  const directory = archiveDirectory(context.config);
  return {
    name: 'webhook_bodies',
    setting: 'RETAIN_BODIES',
    keepMs: context.config.RETAIN_BODIES,
    note: directory === undefined ? 'ARCHIVE_DIR is not set: bodies stay in the database' : undefined,
    async *run({ before, write }) {
      if (directory === undefined) return;
      if (write) {
        await requireMounted(context.db, directory);
        await removeDrafts(directory);
      }
      let conflicts = 0;
      for (let after = await readLastArchived(context); ; ) {
        const { batch, readTo, isLast } = await findBatch(context, after, before);
        if (write && batch.rows.length > 0 && !(await archiveBatch(context, directory, batch))) {
          if (++conflicts >= CONFLICTS_MAX)
            throw new ConfereError('conflict', 'webhooks changed while they were archived: the next run tries again');
          after = await readLastArchived(context);
          continue;
        }
        if (batch.rows.length > 0) yield batch.rows.length;
        if (isLast) return;
        after = readTo;
      }
    },
  };
}

/** Whether a body is old enough for the archive, and not in it. */
export async function isBodyDue(context: Context): Promise<boolean> {
  const { RETAIN_BODIES } = context.config;
  if (RETAIN_BODIES === 'off') return false;
  const row = await context.db
    .selectFrom('webhooks')
    .select('received_at')
    .where('state', '=', 'applied')
    .where('seq', '>', await readLastArchived(context))
    .where('body_bytes', '>', 0)
    .where('dropped_at', 'is', null)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined && row.received_at.getTime() < context.clock.now().getTime() - RETAIN_BODIES;
}

async function readLastArchived({ db }: Context): Promise<number> {
  const row = await db
    .selectFrom('body_archives')
    .select((eb) => eb.fn.max('last_webhook_seq').as('seq'))
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}

/** The next rows above a number that one file takes. `isLast`: nothing above them is old enough. */
async function findBatch(
  { db, calendar }: Context,
  after: number,
  before: Date,
): Promise<{ batch: Batch; readTo: number; isLast: boolean }> {
  const rows: Row[] = await db
    .selectFrom('webhooks')
    .select(['seq', 'received_at', 'body_bytes', 'dropped_at'])
    .where('state', '=', 'applied')
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(RETENTION_BATCH_ROWS)
    .execute();
  const batch: Batch = { rows: [], bytes: 0, month: '' };
  let readTo = after;
  for (const row of rows) {
    if (row.received_at >= before) return { batch, readTo, isLast: true };
    if (row.dropped_at === null && row.body_bytes > 0) {
      const month = calendar.dayOf(row.received_at).slice(0, 7);
      const isFull = batch.bytes + row.body_bytes > FILE_BYTES_MAX || month !== batch.month;
      if (batch.rows.length > 0 && isFull) return { batch, readTo, isLast: false };
      batch.month = month;
      batch.rows.push(row);
      batch.bytes += row.body_bytes;
    }
    readTo = row.seq;
  }
  return { batch, readTo, isLast: rows.length < RETENTION_BATCH_ROWS };
}

/** @returns false, with no file left, if rows changed since they were read, or another process archived them. */
async function archiveBatch(context: Context, directory: string, { rows, month }: Batch): Promise<boolean> {
  const bodies = await loadBodies(context, rows);
  const name = nameArchive('bodies', month, bodies[0]?.seq ?? 0);
  const bytes = await writeBodies(context.keys, directory, name, bodies);
  await verifyArchive(context, directory, name, bodies);
  const isRecorded = await recordArchive(context, { name, bytes, bodies });
  if (!isRecorded) await removeArchive(directory, name);
  return isRecorded;
}

async function loadBodies({ db }: Context, rows: Row[]): Promise<ArchivedBody[]> {
  const found = await db
    .selectFrom('webhooks')
    .select(['seq', 'hash', 'received_at', 'body'])
    .where(
      'seq',
      'in',
      rows.map(({ seq }) => seq),
    )
    .orderBy('seq')
    .execute();
  return found.map((row) => ({ seq: row.seq, id: webhookIdOf(row.hash), receivedAt: row.received_at, body: row.body }));
}

/** Reads the file again. @throws InvariantError if it does not hold each body. */
async function verifyArchive(context: Context, directory: string, name: string, bodies: ArchivedBody[]): Promise<void> {
  const stored = await readBodies(context.keys, directory, name);
  const isSame =
    stored.length === bodies.length &&
    stored.every(({ seq, body }, index) => seq === bodies[index]?.seq && body.equals(bodies[index].body));
  if (!isSame) throw new InvariantError(`the archive ${name} was not stored as it was written`);
}

/** Empties the rows and records their file. @returns false, with nothing written, if a row changed since it was read. */
async function recordArchive(
  { db, clock }: Context,
  { name, bytes, bodies }: { name: string; bytes: number; bodies: ArchivedBody[] },
): Promise<boolean> {
  const seqs = bodies.map(({ seq }) => seq);
  return await transact(db, async (trx, mayBeDone) => {
    const recorded = trx.selectFrom('body_archives').select('file').where('file', '=', name);
    if (mayBeDone && (await recorded.executeTakeFirst())) return true;
    const current = await trx
      .selectFrom('webhooks')
      .select(['seq', 'body'])
      .where('seq', 'in', seqs)
      .where('state', '=', 'applied')
      .where('dropped_at', 'is', null)
      .orderBy('seq')
      .forUpdate()
      .execute();
    const isSame =
      current.length === bodies.length && current.every(({ body }, index) => bodies[index]?.body.equals(body));
    if (!isSame) return false;
    await clearBodies(trx, seqs, clock.now());
    await trx
      .insertInto('body_archives')
      .values({
        first_webhook_seq: seqs[0] ?? 0,
        last_webhook_seq: seqs.at(-1) ?? 0,
        file: name,
        bodies: bodies.length,
        body_bytes: bodies.reduce((sum, { body }) => sum + body.length, 0),
        file_bytes: bytes,
        archived_at: clock.now(),
      })
      .execute();
    return true;
  });
}
