import type { Day } from './calendar.ts';

/** Refunds and disputes come up to 90 days after payment: a day's changes may belong to transactions of the 95 days before. */
export const LATE_DAYS = 95;

/**
 * How many days back the long jobs read; today is 0. One more than LATE_DAYS: yesterday closes today, and the first creation
 * day whose transactions may change it is 96 days ago.
 */
export const LOOKBACK_DAYS = LATE_DAYS + 1;

/** Days that a run read completely, or counted, and when it began to ask. */
export type ProvenWindow = { from: Day; to: Day; askedAt: Date };

/**
 * Whether a window proves a day: it contains the day, and was asked for after the day had ended for both clocks. An earlier
 * reading may lack later payments.
 * @param from `calendar.provableFrom` of the day; to close the report of a later day, of that one.
 */
export function provesDay(window: ProvenWindow, day: Day, from: Date): boolean {
  return window.from <= day && window.to >= day && window.askedAt >= from;
}
