/**
 * Reads what the ledger learnt of each day since the last tick that made every due report. Rows up to a cursor made no day due that
 * was not made or compared then: a tick reads the rows above it.
 */
import { type Kysely, sql } from 'kysely';
import type { Context } from '../../context.ts';
import { readSetting } from '../../database/keys/settings.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import type { Day } from '../../domain/calendar.ts';
import { compareText } from '../../domain/lists.ts';
import { LATE_MS_MAX } from '../../seal/find-late-entries.ts';
import { countWindowEvents, WINDOW_EVENTS } from '../plan/read-event-window.ts';
import { takeCut } from '../plan/take-cut.ts';
import { DIGESTED_FACTS } from '../read/read-facts-at-cut.ts';

const CURSOR = 'reports_cursor';

type Numbers = { entrySeq: number; eventSeq: number; factChangeSeq: number };
/** Rows up to these numbers were considered by the tick that began at `at`. `matchSeq`: undefined where nothing was expected. */
export type LearntCursor = Numbers & { at: Date; matchSeq?: number | undefined };
/** The highest numbers of a day's rows; 0: none were read. */
export type Learnt = Numbers & { day: Day };

const NOTHING: Numbers = { entrySeq: 0, eventSeq: 0, factChangeSeq: 0 };

/** The cursor of a tick that begins now: all rows up to it are committed. */
export async function takeLearntCursor(context: Context): Promise<LearntCursor> {
  const at = context.clock.now();
  const { entrySeq, eventSeq, factChangeSeq, orders } = await takeCut(context);
  return { entrySeq, eventSeq, factChangeSeq, at, matchSeq: orders?.matchSeq };
}

/** @returns undefined before the first tick. */
export async function readLearntCursor(db: Reader): Promise<LearntCursor | undefined> {
  const stored = await readSetting(db, CURSOR);
  if (!stored) return undefined;
  const { at, ...numbers } = JSON.parse(stored.toString()) as Numbers & { at: string };
  return { ...numbers, at: new Date(at) };
}

export async function storeLearntCursor(db: Kysely<Database>, cursor: LearntCursor): Promise<void> {
  const value = Buffer.from(JSON.stringify(cursor));
  await db.insertInto('settings').values({ name: CURSOR, value }).onDuplicateKeyUpdate({ value }).execute();
}

/**
 * Reads the days with rows above the cursor, oldest first; all rows without one. On another node of a cluster, a row may be
 * committed late with a number below it: as many numbers are read again as an event window has. Facts count to the day
 * of their transaction's creation.
 */
export async function readLearnt(db: Reader, cursor: LearntCursor | undefined): Promise<Learnt[]> {
  const days = new Map<Day, Learnt>();
  const add = (day: Day, top: Partial<Learnt>): void => {
    days.set(day, { ...NOTHING, ...days.get(day), day, ...top });
  };
  const above = (seq: number): number => Math.max(0, seq - WINDOW_EVENTS);
  for (const table of ['entries', 'events'] as const) {
    const rows = await db
      .selectFrom(table)
      .select([sql<string>`SUBSTR(at_wall, 1, 10)`.as('day'), sql<number>`MAX(seq)`.as('top')])
      .$if(cursor !== undefined, (query) =>
        query.where('seq', '>', above((table === 'entries' ? cursor?.entrySeq : cursor?.eventSeq) ?? 0)),
      )
      .groupBy(sql`SUBSTR(at_wall, 1, 10)`)
      .execute();
    for (const { day, top } of rows) add(day, table === 'entries' ? { entrySeq: top } : { eventSeq: top });
  }
  const facts = await db
    .selectFrom('fact_changes')
    .innerJoin('transactions', 'transactions.seq', 'fact_changes.transaction_seq')
    .select([sql<string>`SUBSTR(created_wall, 1, 10)`.as('day'), sql<number>`MAX(fact_changes.seq)`.as('top')])
    .where('fact_changes.name', 'in', DIGESTED_FACTS)
    .where('fact_changes.seq', '>', above(cursor?.factChangeSeq ?? 0))
    .groupBy(sql`SUBSTR(created_wall, 1, 10)`)
    .execute();
  for (const { day, top } of facts) add(day, { factChangeSeq: top });
  return [...days.values()].sort((a, b) => compareText(a.day, b.day));
}

/**
 * Lists the days whose newest revision lacks late events, of these: the numbers of its event window were counted when it was
 * last compared. An event can be late for minutes, so revisions that were old at the cursor's tick are not counted again.
 */
export async function listLateDays(
  db: Reader,
  newest: { day: Day; made_at: Date; cut_event_seq: number; checked_event_count: number | null }[],
  cursor: LearntCursor | undefined,
): Promise<Day[]> {
  const from = new Date((cursor?.at.getTime() ?? 0) - LATE_MS_MAX);
  const days: Day[] = [];
  for (const { day, made_at: madeAt, cut_event_seq: eventSeq, checked_event_count: count } of newest) {
    if (count === null || madeAt < from) continue;
    if ((await countWindowEvents(db, eventSeq)) !== count) days.push(day);
  }
  return days;
}

/** Lists the days of payments whose matches were made or undone since the cursor. */
export async function listMatchedDays(db: Reader, cursor: LearntCursor | undefined): Promise<Day[]> {
  if (cursor?.matchSeq === undefined) return [];
  const rows = await selectMatched(db, { above: cursor.matchSeq })
    .select(sql<string>`SUBSTR(events.at_wall, 1, 10)`.as('day'))
    .distinct()
    .execute();
  return rows.map(({ day }) => day);
}

/** Selects matches and undoings of a part of their numbers, with the payments' events. */
export function selectMatched(db: Reader, { above, upTo }: { above: number; upTo?: number }) {
  return db
    .selectFrom('expected_matches as made')
    .innerJoin('events', 'events.transaction_seq', 'made.transaction_seq')
    .where('events.status', '=', 'paid')
    .where('made.seq', '>', above)
    .$if(upTo !== undefined, (query) => query.where('made.seq', '<=', upTo ?? 0));
}
