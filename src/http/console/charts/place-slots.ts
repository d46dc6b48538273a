import type { Calendar, Day } from '../../../domain/calendar.ts';
import { formatDay } from '../parts/format.ts';
import type { Slot } from './chart.ts';

/** ` 2026`, `/2026`: both languages write the year last. */
const YEAR_CHARS = 5;

/** A slot without its values. */
export type Place = Omit<Slot, 'values'>;

/** The slot of a day, which leads to the day's report. */
export function placeDay(day: Day, today: Day): Place {
  return {
    label: formatDayShort(day),
    title: formatDay(day),
    href: `/reports/${day}`,
    isNow: day === today,
  };
}

/** The slot of an hour of a day. @param hour `08`. */
export function placeHour(day: Day, hour: string, isNow = false): Place {
  return { label: `${Number(hour)}h`, title: `${formatDay(day)}, ${hour}h`, isNow };
}

/** The slot of the hour that begins at an instant, on the provider's clock. */
export function placeHourOf(calendar: Calendar, start: Date): Place {
  const wall = calendar.toWallTime(start);
  return placeHour(wall.slice(0, 10), wall.slice(11, 13));
}

/** `21/11`, in English `21 Nov`. */
function formatDayShort(day: Day): string {
  return formatDay(day).slice(0, -YEAR_CHARS);
}
