/**
 * The provider's wall clock. A `wall` is `YYYY-MM-DD HH:mm:ss` in its time zone. Text order is time order, except in the
 * hour that the end of summer time repeats.
 */
export type WallClock = {
  /** the wall of an instant in milliseconds */
  toWall(instantMs: number): string;
  /** the instant of a wall, in milliseconds */
  toInstant(wall: string): number;
};

const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;

/** Creates the clock of an IANA time zone. Throws RangeError for an unknown zone. */
export function createWallClock(timeZone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...FIELDS });
  // An Intl call takes microseconds and the history needs millions: cached by quarter hour, in which no offset changes.
  const offsets = new Map<number, number>();
  const offsetAt = (instantMs: number): number => {
    const quarter = Math.floor(instantMs / QUARTER_MS);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      offset = readAsUtc(format, quarter * QUARTER_MS) - quarter * QUARTER_MS;
      if (offsets.size > 50_000) offsets.clear();
      offsets.set(quarter, offset);
    }
    return offset;
  };
  return {
    toWall: (instantMs) => textOf(instantMs + offsetAt(instantMs)),
    toInstant(wall) {
      const asUtc = utcOf(wall);
      return asUtc - offsetAt(asUtc - offsetAt(asUtc));
    },
  };
}

/** Adds seconds to a wall by the calendar alone: every day has 24 hours. */
export function addSeconds(wall: string, seconds: number): string {
  return textOf(utcOf(wall) + seconds * 1_000);
}

/** Adds days to a day, `YYYY-MM-DD`. */
export function addDays(day: string, days: number): string {
  return textOf(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).slice(0, 10);
}

/** Returns whether the text is a day of the calendar. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** Returns whether the text is a wall of the calendar. */
export function isWall(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text) && isDay(text.slice(0, 10));
}

const FIELDS = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
} as const;

function readAsUtc(format: Intl.DateTimeFormat, instantMs: number): number {
  const read: Record<string, number> = {};
  for (const part of format.formatToParts(instantMs)) read[part.type] = Number(part.value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = read;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function utcOf(wall: string): number {
  return Date.parse(`${wall.slice(0, 10)}T${wall.slice(11)}Z`);
}

function textOf(utcMs: number): string {
  const iso = new Date(utcMs).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
}
