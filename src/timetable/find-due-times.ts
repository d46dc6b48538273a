/**
 * The due times of a cron expression, which is of the zone's wall clock. A wall time that the zone repeats is due once, the
 * first time; one that it skips, at the end of the gap. An expression of each hour is due by elapsed time: in both passes of
 * a repeated hour, and not for a skipped one. The library `cron` itself dates a time after a repeated hour an hour too early.
 */
import { CronTime } from 'cron';
import { type Calendar, createCalendar, DAY_MS, MINUTE_MS, type WallTime } from '../domain/calendar.ts';
import { InvariantError } from '../domain/errors.ts';

const SECOND_MS = 1_000;
/** How far back the newest due time is searched for: the first of these windows with a due time has few of them. */
const WINDOWS_MS = [MINUTE_MS, 60 * MINUTE_MS, DAY_MS, 8 * DAY_MS, 32 * DAY_MS, 367 * DAY_MS];
/** Halvings of the longest window down to less than a millisecond. */
const HALVINGS_MAX = 40;
/** Wall times of one gap or repeated hour, at most three hours of seconds, that are not due again. */
const SKIPPED_MAX = 10_800;

/** A job's newest due time up to now, if any in the last year, and the next one. */
export type DueTimes = { newest: Date | undefined; next: Date };

/** The due times of each expression, valid until its next one: a search takes milliseconds. */
const known = new Map<string, DueTimes & { from: Date }>();

/** @param cron an expression in this time zone, not `off`. */
export function findDueTimes(cron: string, zone: string, now: Date): DueTimes {
  const key = `${zone} ${cron}`;
  const before = known.get(key);
  if (before && before.from <= now && now < before.next) return before;
  const found = { ...(step(cron, zone, before, now) ?? search(cron, zone, now)), from: now };
  known.set(key, found);
  return found;
}

/** The last answer of `findNextDue` for each expression. */
const nextDues = new Map<string, { after: number; next: Date }>();

/** @returns the first due time after an instant. */
export function findNextDue(cron: string, zone: string, after: Date): Date {
  const key = `${zone} ${cron}`;
  const known = nextDues.get(key);
  if (known?.after === after.getTime()) return known.next;
  const next = new Date(findNext(parse(cron, zone), after.getTime()));
  nextDues.set(key, { after: after.getTime(), next });
  return next;
}

/** @returns the due times, if only one has passed since the last search. */
function step(cron: string, zone: string, before: DueTimes | undefined, now: Date): DueTimes | undefined {
  if (!before || now < before.next) return undefined;
  const next = findNextDue(cron, zone, before.next);
  return now < next ? { newest: before.next, next } : undefined;
}

function search(cron: string, zone: string, now: Date): DueTimes {
  const schedule = parse(cron, zone);
  const nowMs = now.getTime();
  for (const windowMs of WINDOWS_MS) {
    const firstMs = findNext(schedule, nowMs - windowMs);
    if (firstMs <= nowMs) return halve(schedule, firstMs, nowMs);
  }
  return { newest: undefined, next: new Date(findNext(schedule, nowMs)) };
}

/** Halves the time between a due time and now, until none is due in between. */
function halve(schedule: Schedule, firstMs: number, nowMs: number): DueTimes {
  let [newestMs, lateMs] = [firstMs, nowMs];
  for (let halvings = 0; halvings <= HALVINGS_MAX; halvings++) {
    const nextMs = findNext(schedule, newestMs);
    if (nextMs > nowMs) return { newest: new Date(newestMs), next: new Date(nextMs) };
    const middleMs = Math.floor((nextMs + lateMs) / 2);
    const laterMs = findNext(schedule, middleMs);
    if (laterMs > nowMs) lateMs = middleMs;
    newestMs = laterMs > nowMs ? nextMs : laterMs;
  }
  throw new InvariantError(`the newest due time of ${schedule.expression.toString()} is not found`);
}

type Schedule = { expression: CronTime; calendar: Calendar; isHourly: boolean };
const schedules = new Map<string, Schedule>();

function parse(cron: string, zone: string): Schedule {
  const key = `${zone} ${cron}`;
  const before = schedules.get(key);
  if (before) return before;
  const expression = new CronTime(cron, zone);
  const schedule = { expression, calendar: createCalendar(zone), isHourly: expression.toJSON()[HOUR_FIELD] === '*' };
  schedules.set(key, schedule);
  return schedule;
}

/** Position of the hour in an expression's fields, which begin with the second. */
const HOUR_FIELD = 2;

/** @returns the first due time after an instant, in ms. */
function findNext(schedule: Schedule, afterMs: number): number {
  return schedule.isHourly ? findByElapsedTime(schedule, afterMs) : findByWallClock(schedule, afterMs);
}

/** The due times of wall times ascend with these. */
function findByWallClock({ expression, calendar }: Schedule, afterMs: number): number {
  let wallMs = wallOf(calendar, afterMs);
  for (let skipped = 0; skipped <= SKIPPED_MAX; skipped++) {
    wallMs = nextWall(expression, wallMs);
    const dueMs = firstInstant(calendar, wallMs);
    if (dueMs > afterMs) return dueMs;
  }
  throw new InvariantError(`no due time of ${expression.toString()} is found in ${calendar.zone}`);
}

function findByElapsedTime({ expression, calendar }: Schedule, afterMs: number): number {
  const offsetOf = (ms: number): number => wallOf(calendar, ms) - Math.floor(ms / SECOND_MS) * SECOND_MS;
  const offsetMs = offsetOf(afterMs);
  const dueMs = nextWall(expression, afterMs + offsetMs) - offsetMs;
  if (offsetOf(dueMs) === offsetMs) return dueMs;
  // the clock is changed in between: the wall times go on from there
  const changeMs = findFirst(afterMs, dueMs, (ms) => offsetOf(ms) !== offsetMs);
  const laterMs = offsetOf(changeMs);
  return nextWall(expression, changeMs + laterMs - SECOND_MS) - laterMs;
}

/** Wall times are compared and counted as if they were UTC. */
function wallOf(calendar: Calendar, ms: number): number {
  return Date.parse(`${calendar.toWallTime(new Date(ms)).replace(' ', 'T')}Z`);
}

function nextWall(expression: CronTime, wallMs: number): number {
  return expression.getNextDateFrom(new Date(wallMs), 'UTC').toMillis();
}

/** @returns the first instant whose wall clock shows this time, or a later one where the zone skips it. */
function firstInstant(calendar: Calendar, wallMs: number): number {
  const wall: WallTime = new Date(wallMs).toISOString().slice(0, 19).replace('T', ' ');
  const ms = calendar.toInstant(wall).getTime();
  if (wallOf(calendar, ms) === wallMs) return ms;
  return findFirst(ms - DAY_MS, ms, (one) => wallOf(calendar, one) >= wallMs);
}

/** @returns the first whole second after `fromMs`, up to `toMs`, from which on `holds` is true. */
function findFirst(fromMs: number, toMs: number, holds: (ms: number) => boolean): number {
  let [before, first] = [Math.floor(fromMs / SECOND_MS), Math.ceil(toMs / SECOND_MS)];
  while (first - before > 1) {
    const middle = Math.floor((before + first) / 2);
    if (holds(middle * SECOND_MS)) first = middle;
    else before = middle;
  }
  return first * SECOND_MS;
}
