/** Reads what is known of the provider's list of one day, and whether it allows a conclusion about what is absent from it. */
import { isZoneAlertFiring } from '../../alerts/zone-alert.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { findFirstDay } from '../../seal/find-first-day.ts';
import { listUnread } from '../revisions/classify-day.ts';
import { readProofWindows } from '../revisions/read-proof-windows.ts';

/**
 * Why a list allows no conclusion: its day is not over; no reading since was whole; it was counted alone, which names no
 * transaction; a newer reading could not prove it; a transaction of it appeared after its reading; its day is before the books;
 * each payment may be on the wrong day.
 */
export const LIST_DOUBTS = [
  ...(['not_over', 'not_read', 'only_counted', 'reopened'] as const),
  ...(['late_entry', 'before_books', 'time_zone'] as const),
] as const;
export type ListDoubt = (typeof LIST_DOUBTS)[number];

/** A whole reading: the counts are of its days, of which there are several before the list's bounds are learnt. */
export type ListReading = {
  runId: string;
  askedAt: Date;
  /** When its run ended; null while it goes on. */
  endedAt: Date | null;
  from: Day;
  to: Day;
  passes: number;
  announced: number | null;
  listed: number;
  /** Announced beyond those listed, as a person accepted. */
  surplus: number;
};

export type ListProof = {
  day: Day;
  doubt: ListDoubt | null;
  /** The newest whole reading that was asked for after the day. */
  reading: ListReading | null;
  /** When the newest proof of it was asked for, by pages or by counts. */
  provenAt: Date | null;
  /** Rows of the day that could not be read and are not booked. */
  refusedRows: number;
  /** The days before whose transactions may have been paid on this day, and those not read or counted since. */
  olderUnread: number;
};

export async function readListProof(context: Context, day: Day): Promise<ListProof> {
  const { db, calendar, clock } = context;
  const since = calendar.provableFrom(day);
  const [whole, last, isInDoubt, firstDay, windows, refusedRows] = await Promise.all([
    readNewest(db, day, since, ['complete']),
    readNewest(db, day, since, ['complete', 'counted', 'incomplete']),
    isZoneAlertFiring(db),
    findFirstDay(db),
    readProofWindows(db, { from: day, to: day }),
    countRefused(db, day),
  ]);
  const proven = last?.state === 'incomplete' ? undefined : last;
  return {
    day,
    doubt: decideDoubt({
      isOver: clock.now() >= since,
      isInDoubt,
      whole,
      last,
      isBefore: firstDay !== undefined && day < firstDay,
    }),
    reading: whole ? toReading(whole) : null,
    provenAt: proven?.asked_at ?? null,
    refusedRows,
    olderUnread: listUnread(day, windows, since).filter((one) => one !== day).length,
  };
}

type Window = NonNullable<Awaited<ReturnType<typeof readNewest>>>;

function decideDoubt(known: {
  isOver: boolean;
  isInDoubt: boolean;
  isBefore: boolean;
  whole: Window | undefined;
  last: Window | undefined;
}): ListDoubt | null {
  const { isOver, isInDoubt, isBefore, whole, last } = known;
  if (!isOver) return 'not_over';
  if (isInDoubt) return 'time_zone';
  if (last?.state === 'incomplete') return whole ? 'reopened' : 'not_read';
  if (whole) return null;
  return last ? 'only_counted' : isBefore ? 'before_books' : 'not_read';
}

async function readNewest(db: Reader, day: Day, since: Date, states: readonly string[]) {
  return await db
    .selectFrom('run_windows')
    .innerJoin('runs', 'runs.seq', 'run_windows.run_seq')
    .select(['runs.id', 'runs.finished_at', 'run_windows.from_day', 'run_windows.to_day', 'run_windows.state'])
    .select(['asked_at', 'run_windows.passes', 'run_windows.total', 'run_windows.seen', 'run_windows.surplus'])
    .where('run_windows.state', 'in', states)
    .where('run_windows.platform', 'is', null)
    .where('run_windows.from_day', '<=', day)
    .where('run_windows.to_day', '>=', day)
    .where('run_windows.asked_at', '>=', since)
    .orderBy('run_windows.asked_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

function toReading(window: Window): ListReading | null {
  const { asked_at: askedAt, finished_at: endedAt, from_day: from, to_day: to, passes, surplus } = window;
  if (!askedAt) return null;
  return {
    runId: window.id,
    askedAt,
    endedAt,
    from,
    to,
    passes,
    announced: window.total,
    listed: window.seen,
    surplus,
  };
}

/** Counts open `row_refused` that may be of a day: by the days of the row, else of the run that met it; else of any day. */
async function countRefused(db: Reader, day: Day): Promise<number> {
  const rows = await db
    .selectFrom('mismatches')
    .leftJoin('runs', 'runs.seq', 'mismatches.run_seq')
    .select(['actual', 'from_day', 'to_day'])
    .where('kind', '=', 'row_refused')
    .where('mismatches.state', '!=', 'resolved')
    .execute();
  return rows.filter(({ actual, from_day, to_day }) => {
    const { days } = JSON.parse(actual ?? '{}') as { days?: { from: Day; to: Day } };
    const [from, to] = [days?.from ?? from_day, days?.to ?? to_day];
    return from === null || to === null || (from <= day && to >= day);
  }).length;
}
