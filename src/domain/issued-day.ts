import type { Day } from './calendar.ts';

/** The day on which an expected payment was issued: as given, else the earlier of its due day and the day on which it first came. */
export function issuedDayOf(given: Day | null, { dueDay, createdDay }: { dueDay: Day; createdDay: Day }): Day {
  return given ?? (createdDay < dueDay ? createdDay : dueDay);
}
