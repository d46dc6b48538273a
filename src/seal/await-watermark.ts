import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { type Appended, waitForWriters } from '../database/wait-for-writers.ts';

/** The highest row number of each append-only table, read at one instant. */
export type Watermark = {
  entrySeq: number;
  eventSeq: number;
  mismatchChangeSeq: number;
  auditSeq: number;
  factChangeSeq: number;
};

/** Time for a statement that has its row numbers to insert and lock its rows. */
const INSERT_MS = 50;

/**
 * Waits until no row can appear at or below the watermark. A row number is assigned at the insert and visible at the
 * commit, so a lower number may appear after a higher one. Statements that have numbers but no rows yet get INSERT_MS;
 * then every uncommitted row is awaited by locking all rows, however long the backlog. On Galera, or on a machine that
 * stalls for longer than INSERT_MS, a lower number can still appear: the sealer searches for such late entries.
 * @param from the watermark that was already awaited.
 * @throws the database's lock-wait timeout when a writer does not finish; the watermark is then not reached.
 */
export async function awaitWatermark(db: Kysely<Database>, from: Watermark, watermark: Watermark): Promise<void> {
  await sleep(INSERT_MS);
  await waitForWriters(db, 'entries', from.entrySeq, watermark.entrySeq);
  await waitForWriters(db, 'events', from.eventSeq, watermark.eventSeq);
  await waitForWriters(db, 'mismatch_changes', from.mismatchChangeSeq, watermark.mismatchChangeSeq);
  await waitForWriters(db, 'audit', from.auditSeq, watermark.auditSeq);
  await waitForWriters(db, 'fact_changes', from.factChangeSeq, watermark.factChangeSeq);
}

/** Up to which number facts were awaited before: a seal, or a report of the version that did not seal facts, names it. */
export async function readAwaitedFacts(
  db: Reader,
  head: { factChangeSeq: number | null } | undefined,
): Promise<number> {
  if (head && head.factChangeSeq !== null) return head.factChangeSeq;
  const awaited = await db
    .selectFrom('reports')
    .select((eb) => eb.fn.max<number | null>('cut_fact_change_seq').as('seq'))
    .executeTakeFirst();
  return awaited?.seq ?? 0;
}

/** One statement, so one view of all tables: each entry up to here has its event up to here. */
export async function readWatermark(db: Reader): Promise<Watermark> {
  return await db
    .selectNoFrom([
      highest('entries').as('entrySeq'),
      highest('events').as('eventSeq'),
      highest('mismatch_changes').as('mismatchChangeSeq'),
      highest('audit').as('auditSeq'),
      highest('fact_changes').as('factChangeSeq'),
    ])
    .executeTakeFirstOrThrow();
}

/** The highest number of a table; 0 where it is empty. */
function highest(table: Appended) {
  return sql<number>`COALESCE((SELECT MAX(seq) FROM ${sql.table(table)}), 0)`;
}
