import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { Cut } from './plan.ts';

const SETTLE_MS = 50;
/** More rows than all writers together may have under way at once (20 connections, 200 transactions each). */
const UNSETTLED_ROWS_MAX = 20_000;

/**
 * The newest position below which nothing can appear any more. Numbers are given when a row is written and seen when it
 * is committed, so a lower one may appear after a higher one: we take the highest, give statements that have their
 * numbers but not yet their rows a moment, then wait for every uncommitted row below it by locking what is there.
 */
export async function takeCut(db: Kysely<Database>): Promise<Cut> {
  const tops = await readTops(db);
  await sleep(SETTLE_MS);
  await db.transaction().execute(async (trx) => {
    // READ COMMITTED, so only rows are locked, never the gaps that writers append to
    await waitForWriters(trx, 'entries', tops.entrySeq);
    await waitForWriters(trx, 'events', tops.eventSeq);
    await waitForWriters(trx, 'mismatch_changes', tops.mismatchChangeSeq);
  });
  return tops;
}

async function readTops(db: Kysely<Database>): Promise<Cut> {
  const top = async (table: 'entries' | 'events' | 'mismatch_changes'): Promise<number> => {
    const row = await db.selectFrom(table).select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
    return row?.seq ?? 0;
  };
  // entries last: an entry is written after the event it follows, so no entry of the cut lacks its event
  const mismatchChangeSeq = await top('mismatch_changes');
  const entrySeq = await top('entries');
  return { entrySeq, eventSeq: await top('events'), mismatchChangeSeq };
}

async function waitForWriters(
  trx: Transaction<Database>,
  table: 'entries' | 'events' | 'mismatch_changes',
  top: number,
): Promise<void> {
  // MariaDB knows no FOR SHARE, MySQL still takes the older form
  await sql`SELECT COUNT(*) FROM (
    SELECT seq FROM ${sql.table(table)} WHERE seq > ${top - UNSETTLED_ROWS_MAX} AND seq <= ${top} LOCK IN SHARE MODE
  ) AS settled`.execute(trx);
}

/** Runs `work` in one read-only snapshot: all rows of a report are seen at the same instant. */
export async function inSnapshot<T>(
  db: Kysely<Database>,
  work: (snapshot: Transaction<Database>) => Promise<T>,
): Promise<T> {
  return await db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
}
