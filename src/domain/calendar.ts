import { Temporal } from 'temporal-polyfill';

/**
 * The provider's wall time is text, `YYYY-MM-DD HH:mm:ss`, stored as given. A day is `YYYY-MM-DD` of the same calendar. An
 * instant is a Date. Only this file converts between them, by the provider's time zone.
 */
export type WallTime = string;
export type Day = string;
/** Later than anything that happened: with it, what is dated in the future counts too. */
export const END_OF_TIME: WallTime = '9999-12-31 23:59:59';
/** A month of the same calendar, `2026-11`. */
export type Month = string;

export type Calendar = {
  zone: string;
  /** The instant of a wall time; in an hour that the zone repeats, the earlier one. */
  toInstant(wall: WallTime): Date;
  toWallTime(instant: Date): WallTime;
  /** Rounds up to a whole second: an event before this wall time happened before the instant. */
  toWallTimeRoundedUp(instant: Date): WallTime;
  dayOf(instant: Date): Day;
  /** The first instant of a day. */
  startOfDay(day: Day): Date;
  /** The first instant after a day. */
  endOfDay(day: Day): Date;
  /** The instant from which on a request shows all of a day: it ended by our clock and by the provider's. */
  provableFrom(day: Day): Date;
  /** ISO 8601 with the zone's offset at that wall clock: `2026-11-21T08:00:00-03:00`. */
  toIso(wall: WallTime): string;
};

/** Units of time in milliseconds: 24 hours are no day of the calendar where the clock is changed. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The provider's clock may differ from ours by this much. */
export const CLOCK_LEEWAY_MS = 5 * 60_000;

const CACHE_HOURS_MAX = 50_000;

/**
 * @param leewaySince days that ended before it count as proven from their end on: earlier versions closed them so.
 * @throws RangeError when the runtime does not know the zone.
 */
export function createCalendar(zone: string, leewaySince = new Date(0)): Calendar {
  // throws for an unknown zone
  Temporal.Now.zonedDateTimeISO(zone);
  const offsets = new Map<string, number>();

  // most hours have one offset: one lookup serves all payments of the hour
  function offsetMs(wall: WallTime): number {
    const hour = wall.slice(0, 13);
    const known = offsets.get(hour);
    if (known !== undefined) return known;
    const offset = computeOffset(`${hour}:00:00`);
    if (offset !== computeOffset(`${hour}:59:59`)) return computeOffset(wall);
    if (offsets.size >= CACHE_HOURS_MAX) offsets.clear();
    offsets.set(hour, offset);
    return offset;
  }

  /** A wall time that the zone skips gets the offset before the gap. */
  function computeOffset(wall: WallTime): number {
    const local = Temporal.PlainDateTime.from(wall.replace(' ', 'T'));
    return asIfUtc(wall) - local.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds;
  }

  function asIfUtc(wall: WallTime): number {
    return Date.parse(`${wall.replace(' ', 'T')}Z`);
  }

  function toWall(instant: Date): WallTime {
    const local = Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone);
    return local.toPlainDateTime().toString({ smallestUnit: 'second', roundingMode: 'floor' }).replace('T', ' ');
  }

  function startOfDay(day: Day): Date {
    return new Date(Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds);
  }

  function endOfDay(day: Day): Date {
    return startOfDay(addDays(day, 1));
  }

  function provableFrom(day: Day): Date {
    const end = endOfDay(day);
    return end <= leewaySince ? end : new Date(end.getTime() + CLOCK_LEEWAY_MS);
  }

  return {
    zone,
    toInstant: (wall) => new Date(asIfUtc(wall) - offsetMs(wall)),
    toWallTime: toWall,
    toWallTimeRoundedUp: (instant) => toWall(new Date(Math.ceil(instant.getTime() / 1000) * 1000)),
    dayOf: (instant) => toWall(instant).slice(0, 10),
    startOfDay,
    endOfDay,
    provableFrom,
    toIso: (wall) => `${wall.replace(' ', 'T')}${formatOffset(offsetMs(wall))}`,
  };
}

const WALL = /^\d{4}-\d{2}-\d{2} (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a text is a valid wall time, of any year: the provider may show an odd one. */
export function isWallTime(text: string): boolean {
  return WALL.test(text) && isDate(text.slice(0, 10));
}

/** Days outside these years are mistakes of people. */
export const DAY_MIN = '1900-01-01';
export const DAY_MAX = '2999-12-31';

/** There was no PIX before this day: books and reports begin later. */
export const PIX_DAY_MIN = '2020-01-01';

/** Whether a text is a valid day, from 1900 to 2999. */
export function isDay(text: string): boolean {
  return text >= DAY_MIN && text <= DAY_MAX && isDate(text);
}

/** Whether an instant is within these years: the database keeps no others. */
export function isKeptInstant(instant: Date): boolean {
  const year = instant.getUTCFullYear();
  return year >= Number(DAY_MIN.slice(0, 4)) && year <= Number(DAY_MAX.slice(0, 4));
}

function isDate(text: string): boolean {
  const known = DATES_KNOWN.get(text);
  if (known !== undefined) return known;
  const at = DATE.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  const isReal = !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text;
  if (DATES_KNOWN.size >= DATES_KNOWN_MAX) DATES_KNOWN.clear();
  if (isReal) DATES_KNOWN.set(text, true);
  return isReal;
}

/** Cache of valid dates: each row of the list has four, mostly of the same few days. */
const DATES_KNOWN = new Map<string, true>();
const DATES_KNOWN_MAX = 10_000;

/** @returns the first or last day of the years 0 to 9999 where the sum is outside: a later text would sort before. */
export function addDays(day: Day, days: number): Day {
  const text = new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString();
  if (text.startsWith('+')) return '9999-12-31';
  return text.startsWith('-') ? '0000-01-01' : text.slice(0, 10);
}

/** The last day that began before a wall time: midnight is the end of the day before. */
export function lastDayBefore(wall: WallTime): Day {
  const day = wall.slice(0, 10);
  return wall.endsWith(' 00:00:00') ? addDays(day, -1) : day;
}

/** @returns the days from `from` to `to`, both included; empty if `to` is before `from`. */
export function listDays(from: Day, to: Day): Day[] {
  return Array.from({ length: countDays(from, to) }, (_, index) => addDays(from, index));
}

/** Counts the days from `from` to `to`, both included, in any number of years; 0 if `to` is before `from`. */
export function countDays(from: Day, to: Day): number {
  return Math.max(0, (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS + 1);
}

/** Whether a text is a valid month. */
export function isMonth(text: string): text is Month {
  return /^\d{4}-\d{2}$/.test(text) && isDay(`${text}-01`);
}

export function monthOf(day: Day): Month {
  return day.slice(0, 7);
}

/** @param count 1 or -1. */
export function addMonths(month: Month, count: 1 | -1): Month {
  // 31 days after the first are in the next month, one day before it in the last one
  return monthOf(addDays(`${month}-01`, count === 1 ? 31 : -1));
}

/** The first and the last day of a month. */
export function boundsOfMonth(month: Month): { from: Day; to: Day } {
  return { from: `${month}-01`, to: addDays(`${addMonths(month, 1)}-01`, -1) };
}

/** The instants at which the hours of a day begin: 23 or 25 where the clock is changed. */
export function listHours(calendar: Calendar, day: Day): Date[] {
  const [startMs, endMs] = [day, addDays(day, 1)].map((one) => calendar.startOfDay(one).getTime());
  const count = Math.round(((endMs ?? 0) - (startMs ?? 0)) / HOUR_MS);
  return Array.from({ length: count }, (_, index) => new Date((startMs ?? 0) + index * HOUR_MS));
}

function formatOffset(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / 60_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** The day on which an expected payment was issued: as given, else the earlier of its due day and the day on which it first came. */
export function issuedDayOf(given: Day | null, { dueDay, createdDay }: { dueDay: Day; createdDay: Day }): Day {
  return given ?? (createdDay < dueDay ? createdDay : dueDay);
}
