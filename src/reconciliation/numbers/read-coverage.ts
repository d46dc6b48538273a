import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays, type Day, listDays } from '../../domain/calendar.ts';
import { LATE_DAYS } from '../../domain/late-days.ts';

/** How far back a payment may still change. */
export const COVERED_DAYS = LATE_DAYS;

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
  const windows = await readProvenWindows(context.db, from);
  const days = listDays(from, to);
  const unproven = days.filter((day) => {
    const endsAt = context.calendar.startOfDay(addDays(day, 1));
    return !windows.some((window) => window.from <= day && window.to >= day && window.at >= endsAt);
  });
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

/** The windows from `from` on that were proven for all platforms, by pages or counts: the newest of each range. */
export async function readProvenWindows(db: Reader, from: Day): Promise<{ from: Day; to: Day; at: Date }[]> {
  const rows = await db
    .selectFrom('run_windows')
    .select(['from_day', 'to_day', (eb) => eb.fn.max('asked_at').as('asked_at')])
    .where('state', 'in', ['complete', 'counted'])
    .where('platform', 'is', null)
    .where('to_day', '>=', from)
    .groupBy(['from_day', 'to_day'])
    .execute();
  return rows.flatMap((row) =>
    row.asked_at ? [{ from: row.from_day, to: row.to_day, at: new Date(row.asked_at) }] : [],
  );
}

/** The first known day: of a window or of a transaction. */
async function findFirstDay(context: Context, earliest: Day, latest: Day): Promise<Day> {
  const window = await context.db
    .selectFrom('run_windows')
    .select((eb) => eb.fn.min('from_day').as('day'))
    .executeTakeFirst();
  const transaction = await context.db
    .selectFrom('transactions')
    .select('created_wall')
    .where('created_wall', '>=', `${earliest} 00:00:00`)
    .orderBy('created_wall')
    .limit(1)
    .executeTakeFirst();
  const known = [window?.day, transaction?.created_wall.slice(0, 10)].filter((day) => typeof day === 'string').sort();
  const [first = latest] = known;
  return first < earliest ? earliest : first > latest ? latest : first;
}
