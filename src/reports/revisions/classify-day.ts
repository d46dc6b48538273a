import { isZoneAlertFiring } from '../../alerts/zone-alert.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays, type Calendar, type Day, listDays } from '../../domain/calendar.ts';
import { LATE_DAYS, type ProvenWindow, provesDay } from '../../domain/late-days.ts';
import { readSurplus } from '../plan/read-surplus.ts';
import type { ReportPlan, WholeReading } from '../plan/report-plan.ts';
import { readProofWindows } from './read-proof-windows.ts';

/** Days that one run read, or (`counted`) that any runs read or counted. */
type Window = ProvenWindow & ((WholeReading & { counted?: false }) | { counted: true });
export type DayClassification = Pick<ReportPlan, 'state' | 'reading' | 'countedAt'>;

/** Classifies a day by the runs that read the provider's list. A doubt about the time zone keeps it from `closed`. */
export async function classifyDay(db: Reader, day: Day, now: Date, calendar: Calendar): Promise<DayClassification> {
  const [start, end] = [calendar.startOfDay(day), calendar.endOfDay(day)];
  const provableFrom = calendar.provableFrom(day);
  const isOver = now >= end;
  const reading = await findWholeReading(
    db,
    day,
    isOver ? { after: provableFrom, which: 'first' } : { after: start, which: 'newest' },
  );
  // these say whether its creation days were read or counted, not by which run
  const proven = isOver ? await readProofWindows(db, { from: day, to: day }) : [];
  const windows = proven.map((window): Window => ({ ...window, counted: true }));
  const decided = decideDayState(day, reading ? [reading, ...windows] : windows, { isOver, provableFrom });
  const surplus = decided.reading && (await readSurplus(db, day, decided.reading.runSeq, now));
  const state = decided.state === 'closed' && (await isZoneAlertFiring(db)) ? 'provisional' : decided.state;
  return { ...decided, state, reading: surplus && decided.reading ? { ...decided.reading, surplus } : decided.reading };
}

async function findWholeReading(
  db: Reader,
  day: Day,
  { after, which }: { after: Date; which: 'first' | 'newest' },
): Promise<Window | undefined> {
  const row = await db
    .selectFrom('run_windows')
    .innerJoin('runs', 'runs.seq', 'run_windows.run_seq')
    .select(['runs.seq', 'runs.id', 'run_windows.from_day', 'run_windows.to_day', 'run_windows.asked_at'])
    .where('run_windows.state', '=', 'complete')
    .where('run_windows.platform', 'is', null)
    .where('run_windows.from_day', '<=', day)
    .where('run_windows.to_day', '>=', day)
    .where('run_windows.asked_at', '>=', after)
    .orderBy('run_windows.asked_at', which === 'first' ? 'asc' : 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row?.asked_at) return undefined;
  return { runSeq: row.seq, runId: row.id, from: row.from_day, to: row.to_day, askedAt: row.asked_at };
}

/**
 * Decides the state of a day: `partial` before its end; `closed` once every creation day that may change it was read or
 * counted after it had ended for both clocks; else `provisional`. It names the first complete reading after that, or the
 * newest one while the day runs. Pure.
 * @param windows complete readings, and days proven by counts (`counted`), oldest first.
 */
export function decideDayState(
  day: Day,
  windows: Window[],
  { isOver, provableFrom }: { isOver: boolean; provableFrom: Date },
): DayClassification {
  const readings = windows.filter(isReading);
  if (!isOver) {
    const newest = readings.findLast((window) => window.from <= day && window.to >= day);
    return { state: 'partial', reading: toReading(newest), countedAt: undefined };
  }
  const proofs = windows.filter((window) => provesDay(window, day, provableFrom));
  const reading = toReading(proofs.find(isReading));
  const countedAt = reading
    ? undefined
    : proofs.map(({ askedAt }) => askedAt).sort((a, b) => a.getTime() - b.getTime())[0];
  return { state: listUnread(day, windows, provableFrom).length === 0 ? 'closed' : 'provisional', reading, countedAt };
}

/** The creation days whose transactions may still change a day: those not read or counted since it is provable. Pure. */
export function listUnread(day: Day, windows: ProvenWindow[], provableFrom: Date): Day[] {
  return listDays(addDays(day, -LATE_DAYS), day).filter(
    (created) => !windows.some((window) => provesDay(window, created, provableFrom)),
  );
}

function isReading(window: Window): window is Window & WholeReading {
  return window.counted !== true;
}

function toReading(window: WholeReading | undefined): WholeReading | undefined {
  return window && { runSeq: window.runSeq, runId: window.runId, askedAt: window.askedAt };
}
