import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays, type Calendar, countDays, type Day, listDays } from '../../domain/calendar.ts';
import { LATE_DAYS, LOOKBACK_DAYS, type ProvenWindow, provesDay } from '../../domain/late-days.ts';
import { WINDOW_DAYS_MAX } from '../windows/plan-windows.ts';

/** How far back a payment may still change. */
export const COVERED_DAYS = LATE_DAYS;

/**
 * Counts how many of the last 95 ended days were proven for all platforms after their end, by pages or by counts, and
 * finds the oldest unproven day. Days before the first known day are not counted.
 */
export async function readCoverage(context: Context) {
  const today = context.calendar.dayOf(context.clock.now());
  // a day still running is never proven
  const to = addDays(today, -1);
  const from = await findFirstDay(context, addDays(today, -COVERED_DAYS), to);
  const days = listDays(from, to);
  const unproven = listUnproven(context.calendar, days, await readProvenWindows(context.db, from));
  const oldest = unproven[0] ?? null;
  return {
    from,
    to,
    days: days.length,
    proven: days.length - unproven.length,
    oldestUnproven: oldest,
    // 0 where all are proven
    oldestUnprovenAgeDays: oldest === null ? 0 : countDays(oldest, to),
  };
}

/**
 * Ended days since the books begin that no run has proven after their end; and days before whose transactions may still move in
 * the books: up to 96 days before they begin, and before today.
 * @param booksFrom the day of the first opening; without one, the first known day of the last 95.
 */
export async function readUnproven(
  context: Context,
  booksFrom: Day | undefined,
): Promise<{ from: Day; count: number; oldest: Day | undefined }> {
  const today = context.calendar.dayOf(context.clock.now());
  const to = addDays(today, -1);
  const from = booksFrom
    ? findFirstNeeded(booksFrom, today)
    : await findFirstDay(context, addDays(today, -COVERED_DAYS), to);
  if (from > to) return { from, count: 0, oldest: undefined };
  const unproven = listUnproven(context.calendar, listDays(from, to), await readProvenWindows(context.db, from));
  return { from, count: unproven.length, oldest: unproven[0] };
}

function findFirstNeeded(booksFrom: Day, today: Day): Day {
  const earliest = [addDays(booksFrom, -LOOKBACK_DAYS), addDays(today, -LOOKBACK_DAYS)].sort().at(-1) ?? booksFrom;
  return earliest < booksFrom ? earliest : booksFrom;
}

/** Finds when the newest complete reading of today over all platforms began, or the newest recent one that rests on it. */
export async function findReadingOfToday({ db, calendar, clock }: Context): Promise<Date | undefined> {
  const today = calendar.dayOf(clock.now());
  const row = await db
    .selectFrom('run_windows')
    .select((eb) => eb.fn.max('asked_at').as('at'))
    .where('from_day', '>', addDays(today, -WINDOW_DAYS_MAX))
    .where('from_day', '<=', today)
    .where('to_day', '>=', today)
    .where('state', 'in', ['complete', 'recent'])
    .where('platform', 'is', null)
    .where('asked_at', '>=', calendar.startOfDay(today))
    .executeTakeFirst();
  return row?.at ? new Date(row.at) : undefined;
}

function listUnproven(calendar: Calendar, days: Day[], windows: ProvenWindow[]): Day[] {
  return days.filter((day) => {
    const from = calendar.provableFrom(day);
    return !windows.some((window) => provesDay(window, day, from));
  });
}

/** The windows from `from` on that were proven for all platforms, by pages or counts: the newest of each range. */
export async function readProvenWindows(db: Reader, from: Day): Promise<ProvenWindow[]> {
  return (
    await Promise.all((['complete', 'counted'] as const).map((state) => readNewestWindows(db, state, from)))
  ).flat();
}

/**
 * Reads those of one state. With one state a statement, the server reads one entry of the index for each range; two years of windows
 * take 20 ms instead of 300 ms.
 */
export async function readNewestWindows(db: Reader, state: 'complete' | 'counted', from: Day): Promise<ProvenWindow[]> {
  const rows = await selectNewestWindows(db)
    .where('state', '=', state)
    .where('from_day', '>', addDays(from, -WINDOW_DAYS_MAX))
    .execute();
  return toProvenWindows(rows).filter(({ to }) => to >= from);
}

/** Selects the newest of each range of days, over all platforms. */
export function selectNewestWindows(db: Reader) {
  return db
    .selectFrom('run_windows')
    .select(['from_day', 'to_day', (eb) => eb.fn.max('asked_at').as('asked_at')])
    .where('platform', 'is', null)
    .groupBy(['from_day', 'to_day']);
}

export function toProvenWindows(
  rows: { from_day: Day; to_day: Day; asked_at: Date | string | null }[],
): ProvenWindow[] {
  return rows.flatMap(({ from_day: from, to_day: to, asked_at: at }) =>
    at ? [{ from, to, askedAt: new Date(at) }] : [],
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
