import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';

/** The highest number of each append-only table. */
export type Tops = { entrySeq: number; eventSeq: number; mismatchChangeSeq: number };

type Appended = 'entries' | 'events' | 'mismatch_changes' | 'fact_changes';

/** How long a statement that has its numbers may take until its rows are there to be waited for. */
const SETTLE_MS = 50;
/** More rows than all writers together may have under way at once (20 connections, 200 transactions each). */
export const UNSETTLED_ROWS_MAX = 20_000;

/**
 * Waits until nothing can appear at or below these numbers any more. Numbers are given when a row is written and seen
 * when it is committed, so a lower one may appear after a higher one: statements that have their numbers but not yet
 * their rows get a moment, then every uncommitted row is waited for by locking what is there. On Galera, and on a
 * machine that stood still for longer than that moment, a lower number can still come: the sealer looks back for it.
 * @param from what was settled before.
 */
export async function settleTops(db: Kysely<Database>, from: Tops, tops: Tops): Promise<void> {
  await sleep(SETTLE_MS);
  await db.transaction().execute(async (trx) => {
    // READ COMMITTED, so only rows are locked, never the gaps that writers append to
    await waitForWriters(trx, 'entries', from.entrySeq, tops.entrySeq);
    await waitForWriters(trx, 'events', from.eventSeq, tops.eventSeq);
    await waitForWriters(trx, 'mismatch_changes', from.mismatchChangeSeq, tops.mismatchChangeSeq);
  });
}

/** The highest number of `fact_changes`, once nothing can appear at or below it any more. */
export async function settleFactChanges(db: Kysely<Database>): Promise<number> {
  const top = await readTop(db, 'fact_changes');
  await sleep(SETTLE_MS);
  await db.transaction().execute((trx) => waitForWriters(trx, 'fact_changes', 0, top));
  return top;
}

export async function readTops(db: Reader): Promise<Tops> {
  // entries before events: an entry is written after the event it follows, so no entry up to here lacks its event
  const mismatchChangeSeq = await readTop(db, 'mismatch_changes');
  const entrySeq = await readTop(db, 'entries');
  return { entrySeq, eventSeq: await readTop(db, 'events'), mismatchChangeSeq };
}

async function readTop(db: Reader, table: Appended): Promise<number> {
  const row = await db.selectFrom(table).select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row?.seq ?? 0;
}

async function waitForWriters(trx: Transaction<Database>, table: Appended, from: number, to: number): Promise<void> {
  const after = Math.max(from, to - UNSETTLED_ROWS_MAX);
  if (after >= to) return;
  // MariaDB knows no FOR SHARE, MySQL still takes the older form
  await sql`SELECT COUNT(*) FROM (
    SELECT seq FROM ${sql.table(table)} WHERE seq > ${after} AND seq <= ${to} LOCK IN SHARE MODE
  ) AS settled`.execute(trx);
}
