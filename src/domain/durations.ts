/** Units of time in milliseconds. A day is 24 hours: days of the calendar, which may have 23 or 25, are in `calendar.ts`. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
