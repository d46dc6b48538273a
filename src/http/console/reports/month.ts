import { type Day, isMonth, listDays, type Month } from '../../../domain/calendar.ts';
import { language } from '../../../texts/language.ts';
import { refuseField } from '../../../texts/refuse.ts';

/** A week from Sunday on, as calendars in Brazil begin. */
const WEEK = listDays('2026-11-01', '2026-11-07');

/** @throws ConfereError `invalid_request` for a text that is no month. */
export function parseMonth(text: string): Month {
  if (isMonth(text)) return text;
  throw refuseField('month', 'month_wrong');
}

/** `novembro de 2026`, in English `November 2026`. */
export function nameMonth(month: Month): string {
  return format(`${month}-01`, { month: 'long', year: 'numeric' });
}

/** `dom`, `seg`, …: the days of a week from Sunday on. */
export function nameWeekdays(): string[] {
  return WEEK.map((day) => format(day, { weekday: 'short' }).replace('.', ''));
}

/** 0 for a Sunday. */
export function weekdayOf(day: Day): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay();
}

function format(day: Day, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify([language(), options]);
  const known = formats.get(key) ?? new Intl.DateTimeFormat(language(), { ...options, timeZone: 'UTC' });
  formats.set(key, known);
  return known.format(new Date(`${day}T00:00:00Z`));
}

/** One takes 2 ms to make, and a page has a dozen. */
const formats = new Map<string, Intl.DateTimeFormat>();
