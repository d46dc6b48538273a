/** Finds fields of a table that have two readings: an amount that goes on in the next field, and days as month/day. Pure. */
import { type Day, isDay, listDays } from '../domain/calendar.ts';
import type { SheetCell } from '../spreadsheet/row.ts';
import type { ImportFault } from './import-kind.ts';

const CHARS_MAX = 40;
const WHOLE = /^[^\d.,]*\d+$/;
const DECIMALS = /^(?:\d{1,2}|\d{3}(?:\.\d{2})?)\s*(?:[-+)]|\([-+]\)|DB?|CR?)?$/i;

/** Whether an amount in a file with commas may go on in the next field: `10,50` is two of them. */
export function isSplit(amount: SheetCell, next: SheetCell | undefined): boolean {
  const [whole, decimals = ''] = [amount, next].map((cell) => cell?.text.slice(0, CHARS_MAX).trim());
  return WHOLE.test(whole ?? '') && DECIMALS.test(decimals);
}

/** A day of a row as it was read, and as it was written. */
export type WrittenDay = { row: number; column: string; day: Day; text: string };

const LOCAL = /^\d{2}\/\d{2}\/\d{4}/;
/** Lines of a month are at most as many days apart. */
const APART_DAYS_MIN = 28;

/**
 * Finds days that may be month/day: read as day/month they are months apart, and else days. Files of a person or a bank here
 * have day/month, and a day after the 12th proves that.
 */
export function findMonthFirst(days: readonly WrittenDay[]): ImportFault[] {
  const local = days.find(({ text }) => LOCAL.test(text));
  if (!local) return [];
  const swapped = days.map(({ day, text }) =>
    LOCAL.test(text) ? `${day.slice(0, 5)}${day.slice(8)}-${day.slice(5, 7)}` : day,
  );
  const [asRead, asSwapped] = [countDays(days.map(({ day }) => day)), countDays(swapped)];
  if (!swapped.every(isDay) || asRead < APART_DAYS_MIN || asSwapped * 2 > asRead) return [];
  return [{ row: local.row, column: local.column, kind: 'month_first' }];
}

function countDays(days: Day[]): number {
  const sorted = days.toSorted();
  return listDays(sorted[0] ?? '', sorted.at(-1) ?? '').length;
}
