import type { Context } from '../../context.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { type Reading, secondsSince } from '../../metrics/reading.ts';
import { findNextDue } from '../../timetable/find-due-times.ts';

/** The newest day with a report, and since when the next one is due. */
export async function readReportMetrics(context: Context): Promise<Reading[]> {
  const { db, clock, calendar } = context;
  const newest = await db
    .selectFrom('reports')
    .select('day')
    .where('state', '<>', 'partial')
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  const endedAt = newest && calendar.endOfDay(newest.day);
  return [
    {
      name: 'confere_report_newest_day_end_timestamp_seconds',
      help: 'End of the newest day that has a report; 0 before the first.',
      values: (endedAt?.getTime() ?? 0) / 1000,
    },
    {
      name: 'confere_report_overdue_seconds',
      help: 'Time since the report after the newest one was due by JOB_DAILY_REPORT; 0 while it is not due, before the first, and where the job is off.',
      values: secondsSince(newest && findDue(context, addDays(newest.day, 1)), clock.now()),
    },
  ];
}

/** The first tick of the job after a day's end. */
function findDue({ config, calendar }: Context, day: Day): Date | undefined {
  const { JOBS, JOB_DAILY_REPORT: cron, PROVIDER_TIME_ZONE: zone } = config;
  if (JOBS === 'off' || cron === 'off') return undefined;
  // a tick on the stroke of midnight makes the report too
  const endedAt = new Date(calendar.endOfDay(day).getTime() - 1);
  return findNextDue(cron, zone, endedAt);
}
