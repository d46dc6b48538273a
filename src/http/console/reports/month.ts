import { addDays, type Day, isDay, listDays } from '../../../domain/calendar.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { language } from '../languages/language.ts';
import { t } from '../languages/translate.ts';

/** A month of the calendar, `2026-11`. */
export type Month = string;

/** A week from Sunday on, as calendars in Brazil begin. */
const WEEK = listDays('2026-11-01', '2026-11-07');

/** @throws ConfereError `invalid_request` for a text that is no month. */
export function parseMonth(text: string): Month {
  if (/^\d{4}-\d\d$/.test(text) && isDay(`${text}-01`)) return text;
  const fields = { [t('Mês')]: [t('deve ser como 2026-11')] };
  throw new ConfereError('invalid_request', 'month is no month', { fields });
}

export function monthOf(day: Day): Month {
  return day.slice(0, 7);
}

export function boundsOfMonth(month: Month): { from: Day; to: Day } {
  return { from: `${month}-01`, to: addDays(`${addMonths(month, 1)}-01`, -1) };
}

/** @param count 1 or -1. */
export function addMonths(month: Month, count: 1 | -1): Month {
  // 31 days after the first are in the next month, one day before it in the last one
  return monthOf(addDays(`${month}-01`, count === 1 ? 31 : -1));
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
  return new Intl.DateTimeFormat(language(), { ...options, timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`));
}
