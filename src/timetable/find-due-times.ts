import { CronTime } from 'cron';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
/** How far back the newest due time is searched for: no window has many due times of a job that the one before missed. */
const WINDOWS_MS = [MINUTE_MS, 60 * MINUTE_MS, DAY_MS, 8 * DAY_MS, 32 * DAY_MS, 367 * DAY_MS];

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
  const next = new CronTime(cron, zone).getNextDateFrom(after, zone).toJSDate();
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
  const expression = new CronTime(cron, zone);
  const after = (instant: Date): Date => expression.getNextDateFrom(instant, zone).toJSDate();
  for (const windowMs of WINDOWS_MS) {
    let newest = after(new Date(now.getTime() - windowMs));
    if (newest > now) continue;
    for (;;) {
      const next = after(newest);
      if (next > now) return { newest, next };
      newest = next;
    }
  }
  return { newest: undefined, next: after(now) };
}
