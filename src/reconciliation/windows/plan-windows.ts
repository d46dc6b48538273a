import { addDays, type Calendar, type Day, listDays } from '../../domain/calendar.ts';
import { LOOKBACK_DAYS } from '../../domain/late-days.ts';
import type { Priority } from '../../provider/schedule-requests.ts';
import type { RunRef, Window } from './run-ref.ts';

/** How the provider's dates bound a range: whether the first and the last day themselves are in it. */
export type ListBounds = { low: 'inclusive' | 'exclusive'; high: 'inclusive' | 'exclusive' };

/** Until the bounds are learnt, a window is queried a day wider on both sides: several days share that cost. */
export const WINDOW_DAYS_MAX = 7;

/** Cuts a range of days into windows that are read and proven one by one: single days once the bounds are learnt. */
export function planWindows(from: Day, to: Day, bounds: ListBounds | undefined): Window[] {
  const days = bounds ? 1 : WINDOW_DAYS_MAX;
  const windows: Window[] = [];
  for (let fromDay = from; fromDay <= to; fromDay = addDays(fromDay, days)) {
    const last = addDays(fromDay, days - 1);
    windows.push({ fromDay, toDay: last < to ? last : to });
  }
  return windows;
}

/** The dates to query, so that the answer holds every transaction of the window. */
export function toQueryDates(window: Window, bounds: ListBounds | undefined): { initialDate: Day; finalDate: Day } {
  return {
    initialDate: bounds?.low === 'inclusive' ? window.fromDay : addDays(window.fromDay, -1),
    finalDate: bounds?.high === 'inclusive' ? window.toDay : addDays(window.toDay, 1),
  };
}

/** The days of a window that have ended for both clocks: only these can be proven. */
export function listEndedDays(window: Window, calendar: Calendar, now: Date): Day[] {
  return listDays(window.fromDay, window.toDay).filter((day) => now >= calendar.provableFrom(day));
}

export function isInWindow(window: Window, wall: string): boolean {
  const day = wall.slice(0, 10);
  return day >= window.fromDay && day <= window.toDay;
}

/**
 * The priority of a window's reading. Days before the reach of the long jobs are a backfill. Pure.
 * @param run the whole run: a long one is a backfill to its last day, unless it reads open days only.
 */
export function priorityOf(window: Window, run: Pick<RunRef, 'from' | 'to' | 'how'>, today: Day): Priority {
  if (run.how === 'open') return 'settled';
  if (run.from < addDays(run.to, -LOOKBACK_DAYS) || window.toDay < addDays(today, -LOOKBACK_DAYS)) return 'backfill';
  return window.toDay >= addDays(today, -1) ? 'today' : 'settled';
}
