import type { Context } from '../context.ts';
import { addDays, type Day } from '../domain/calendar.ts';
import { LOOKBACK_DAYS } from '../domain/late-days.ts';
import { findNextDue } from './find-due-times.ts';
import { type JobName, listJobs } from './list-jobs.ts';

/** How many days back each job reads whole: the first reading after its end of a day of reconcile_recent is whole. */
export const WHOLE_DAYS = {
  reconcile_recent: 1,
  reconcile_month: 35,
  reconcile_quarter: LOOKBACK_DAYS,
} as const satisfies Partial<Record<JobName, number>>;

/** When the timetable next begins to read a day and those after it whole, after an instant; null where no job will. */
export function findNextReading({ calendar, config }: Context, day: Day, after: Date): Date | null {
  const dues = listJobs(config).flatMap(({ name, cron }) => {
    const back = Object.entries(WHOLE_DAYS).find(([job]) => job === name)?.[1];
    if (back === undefined || cron === 'off') return [];
    const due = findNextDue(cron, calendar.zone, after);
    return addDays(calendar.dayOf(due), -back) <= day ? [due] : [];
  });
  return dues.sort((a, b) => a.getTime() - b.getTime())[0] ?? null;
}
