import type { Context } from '../../context.ts';
import { type Day, listDays } from '../../domain/calendar.ts';
import { isProven, type RangeDay } from '../plan/report-plan.ts';
import { classifyDay } from './classify-day.ts';

/** Classifies the days of a range, as of an instant. */
export async function classifyDays(
  { db, calendar }: Pick<Context, 'db' | 'calendar'>,
  { from, to }: { from: Day; to: Day },
  now: Date,
): Promise<RangeDay[]> {
  const days: RangeDay[] = [];
  for (const day of listDays(from, to)) {
    const found = await classifyDay(db, day, now, calendar);
    days.push({ day, state: found.state, proven: isProven(found), counted: found.countedAt !== undefined });
  }
  return days;
}
