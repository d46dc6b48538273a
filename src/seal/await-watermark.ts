import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';

/** The highest number of each append-only table. */
export type Watermark = { entrySeq: number; eventSeq: number; mismatchChangeSeq: number; auditSeq: number };

type Appended = 'entries' | 'events' | 'mismatch_changes' | 'fact_changes' | 'audit';

/** How long a statement that has its numbers may take until its rows are there to be waited for. */
const SETTLE_MS = 50;
/** Rows that are locked at once to wait for their writers: a backlog takes several such transactions. */
const LOCKED_ROWS_MAX = 20_000;

/**
 * Waits until nothing can appear at or below these numbers any more. Numbers are given when a row is written and seen
 * when it is committed, so a lower one may appear after a higher one: statements that have their numbers but not yet
 * their rows get a moment, then every uncommitted row is waited for by locking all that is there, however long the
 * backlog. On Galera, and on a machine that stood still for longer than that moment, a lower number can still come: the
 * sealer looks back for it.
 * @param from what was settled before.
 * @throws the database's lock-wait time-out when a writer does not end: nothing was settled then.
 */
export async function awaitWatermark(db: Kysely<Database>, from: Watermark, tops: Watermark): Promise<void> {
  await sleep(SETTLE_MS);
  await waitForWriters(db, 'entries', from.entrySeq, tops.entrySeq);
  await waitForWriters(db, 'events', from.eventSeq, tops.eventSeq);
  await waitForWriters(db, 'mismatch_changes', from.mismatchChangeSeq, tops.mismatchChangeSeq);
  await waitForWriters(db, 'audit', from.auditSeq, tops.auditSeq);
}

/** The highest number of `fact_changes`, once nothing can appear at or below it any more. */
export async function awaitFactChangeWatermark(db: Kysely<Database>): Promise<number> {
  const top = await readTop(db, 'fact_changes');
  await sleep(SETTLE_MS);
  // what a report was cut at was settled for it
  const settled = await db
    .selectFrom('reports')
    .select((eb) => eb.fn.max('cut_fact_change_seq').as('seq'))
    .execute();
  await waitForWriters(db, 'fact_changes', Number(settled[0]?.seq ?? 0), top);
  return top;
}

export async function readWatermark(db: Reader): Promise<Watermark> {
  // entries before events: an entry is written after the event it follows, so no entry up to here lacks its event
  const auditSeq = await readTop(db, 'audit');
  const mismatchChangeSeq = await readTop(db, 'mismatch_changes');
  const entrySeq = await readTop(db, 'entries');
  return { entrySeq, eventSeq: await readTop(db, 'events'), mismatchChangeSeq, auditSeq };
}

async function readTop(db: Reader, table: Appended): Promise<number> {
  const row = await db.selectFrom(table).select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row?.seq ?? 0;
}

async function waitForWriters(db: Kysely<Database>, table: Appended, from: number, to: number): Promise<void> {
  let after = from;
  while (after < to) {
    // MariaDB knows no FOR SHARE, MySQL still takes the older form
    const locked = sql<{ count: number; last: number | null }>`SELECT COUNT(*) AS count, MAX(seq) AS last FROM (
      SELECT seq FROM ${sql.table(table)} WHERE seq > ${after} AND seq <= ${to}
      ORDER BY seq LIMIT ${LOCKED_ROWS_MAX} LOCK IN SHARE MODE
    ) AS settled`;
    // READ COMMITTED, so only rows are locked, never the gaps that writers append to
    const { rows } = await db.transaction().execute((trx) => locked.execute(trx));
    if (Number(rows[0]?.count ?? 0) < LOCKED_ROWS_MAX) return;
    after = Number(rows[0]?.last ?? to);
  }
}
