import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays, type Calendar, type Day, listDays } from '../../domain/calendar.ts';
import { LATE_DAYS } from '../../domain/late-days.ts';
import { WINDOW_DAYS_MAX } from '../windows/plan-windows.ts';

/** How far back a payment may still change. */
export const COVERED_DAYS = LATE_DAYS;

/** Newest windows that are searched first: each night proves all covered days again. */
const NEWEST_WINDOWS = 3_000;

export type Coverage = {
  from: Day;
  /** Yesterday: a day still running is never proven. */
  to: Day;
  days: number;
  proven: number;
  oldestUnproven: Day | null;
  /** Age of the oldest unproven day; 0 where all are proven. */
  oldestUnprovenAgeDays: number;
};

/**
 * Counts how many of the last 95 ended days were proven for all platforms after their end, by pages or by counts, and
 * finds the oldest unproven day. Days before the first known day are not counted.
 */
export async function readCoverage(context: Context): Promise<Coverage> {
  const today = context.calendar.dayOf(context.clock.now());
  const to = addDays(today, -1);
  const from = await findFirstDay(context, addDays(today, -COVERED_DAYS), to);
  const days = listDays(from, to);
  const newest = await readProvenWindows(context.db, from, (await findNewestWindow(context.db)) - NEWEST_WINDOWS);
  const left = listUnproven(context.calendar, days, newest);
  const [first] = left;
  const unproven = first ? listUnproven(context.calendar, left, await readProvenWindows(context.db, first)) : [];
  const oldest = unproven[0] ?? null;
  return {
    from,
    to,
    days: days.length,
    proven: days.length - unproven.length,
    oldestUnproven: oldest,
    oldestUnprovenAgeDays: oldest === null ? 0 : listDays(oldest, to).length,
  };
}

type ProvenWindow = { from: Day; to: Day; at: Date };

function listUnproven(calendar: Calendar, days: Day[], windows: ProvenWindow[]): Day[] {
  return days.filter((day) => {
    const endsAt = calendar.startOfDay(addDays(day, 1));
    return !windows.some((window) => window.from <= day && window.to >= day && window.at >= endsAt);
  });
}

async function findNewestWindow(db: Reader): Promise<number> {
  const row = await db.selectFrom('run_windows').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row?.seq ?? 0;
}

/**
 * The windows from `from` on that were proven for all platforms, by pages or counts: the newest of each range.
 * @param afterSeq leaves out older windows.
 */
export async function readProvenWindows(db: Reader, from: Day, afterSeq = 0): Promise<ProvenWindow[]> {
  const rows = await db
    .selectFrom('run_windows')
    .select(['from_day', 'to_day', (eb) => eb.fn.max('asked_at').as('asked_at')])
    .where('state', 'in', ['complete', 'counted'])
    .where('platform', 'is', null)
    .where('to_day', '>=', from)
    // uses the index
    .where('from_day', '>', addDays(from, -WINDOW_DAYS_MAX))
    .$if(afterSeq > 0, (query) => query.where('seq', '>', afterSeq))
    .groupBy(['from_day', 'to_day'])
    .execute();
  return rows.flatMap((row) =>
    row.asked_at ? [{ from: row.from_day, to: row.to_day, at: new Date(row.asked_at) }] : [],
  );
}

/** The first known day: of a window or of a transaction. */
async function findFirstDay(context: Context, earliest: Day, latest: Day): Promise<Day> {
  // one entry of the index for each state
  const windows = await context.db
    .selectFrom('run_windows')
    .select((eb) => eb.fn.min('from_day').as('day'))
    .groupBy('state')
    .execute();
  const transaction = await context.db
    .selectFrom('transactions')
    .select('created_wall')
    .where('created_wall', '>=', `${earliest} 00:00:00`)
    .orderBy('created_wall')
    .limit(1)
    .executeTakeFirst();
  const found = [...windows.map(({ day }) => day), transaction?.created_wall.slice(0, 10)];
  const known = found.filter((day) => typeof day === 'string').sort();
  const [first = latest] = known;
  return first < earliest ? earliest : first > latest ? latest : first;
}
