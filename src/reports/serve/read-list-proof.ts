import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { isZoneAlertFiring } from '../../alerts/zone-alert.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { LATE_DAYS, type ProvenWindow, provesDay } from '../../domain/late-days.ts';
import { selectNewestWindows, toProvenWindows } from '../../reconciliation/numbers/read-coverage.ts';
import { findFirstDay } from '../../seal/find-first-day.ts';
import { listUnread } from '../revisions/classify-day.ts';
import { readProofWindows } from '../revisions/read-proof-windows.ts';

/**
 * Why the list of a day allows no conclusion: the day is not over; no reading since was whole; it was counted alone, and a count
 * names no transaction; a newer reading could not prove it; its day is before the books; each payment may be on the wrong day.
 */
export type ListDoubt = 'not_over' | 'not_read' | 'only_counted' | 'reopened' | 'before_books' | 'time_zone';
export type ListProof = Awaited<ReturnType<typeof readListProof>>;

/**
 * Reads what is known of the provider's list of a day. `whole`: the newest whole reading that was asked for after the day;
 * `early`: where there is none, the newest one before.
 * `refusedRows`: rows that may be of it, and could not be read. `olderUnread`: those of the days before whose transactions may
 * have been paid on it, and that were not read whole since; `olderCounted` of them were counted, which closes a report and
 * names no transaction; `olderEarlyAt`: when the newest whole reading of one of them began. `olderUnlisted` of them were never
 * proven by a whole reading after their own end, or no more by a newer one: of all others each charge is known, though not what
 * became of it. `olderRefused`: rows of the days before that could not be read.
 */
export async function readListProof({ db, calendar, clock }: Context, day: Day) {
  const since = calendar.provableFrom(day);
  const before = addDays(day, -LATE_DAYS);
  const [whole, last, isInDoubt, firstDay, windows, named, refusedRows, failed] = await Promise.all([
    readNewest(db, day, namesAll, since),
    readNewest(db, day, 'any', since),
    isZoneAlertFiring(db),
    findFirstDay(db),
    readProofWindows(db, { from: day, to: day }),
    readSpans(db, { from: before, to: day }, isNamingCount),
    listRefused(db, before, day),
    readSpans(db, { from: before, to: day }, (eb) => eb('run_windows.state', '=', 'incomplete')),
  ]);
  function decideDoubt(): ListDoubt | null {
    if (clock.now() < since) return 'not_over';
    if (isInDoubt) return 'time_zone';
    if (last?.state === 'incomplete') return whole ? 'reopened' : 'not_read';
    if (whole) return null;
    if (last) return 'only_counted';
    return !early && firstDay !== undefined && day < firstDay ? 'before_books' : 'not_read';
  }
  const readWhole = [...windows.filter(({ isWhole }) => isWhole), ...named];
  const listOlder = (proofs: ProvenWindow[]) => listUnread(day, proofs, since).filter((one) => one !== day);
  const unread = listOlder(readWhole);
  const olderCounted = unread.length - listOlder(windows).length;
  const tooEarly = readWhole.filter(({ from, to }) => unread.some((one) => from <= one && to >= one));
  const [olderEarlyAt] = tooEarly.map(({ askedAt }) => askedAt).sort((a, b) => b.getTime() - a.getTime());
  const isListed = (one: Day): boolean =>
    readWhole.some(
      (window) =>
        provesDay(window, one, calendar.provableFrom(one)) &&
        !failed.some(({ from, to, askedAt }) => from <= one && to >= one && askedAt > window.askedAt),
    );
  const early = whole ? undefined : await readNewest(db, day, namesAll);
  return {
    day,
    doubt: decideDoubt(),
    whole,
    early,
    refusedRows: refusedRows.filter((one) => one.to >= day).length,
    olderRefused: refusedRows.filter((one) => one.from < day).length,
    olderDays: unread,
    olderUnlisted: unread.filter((one) => !isListed(one)).length,
    olderCounted,
    olderEarlyAt,
  };
}

type Windows = ExpressionBuilder<Database, 'run_windows'>;
type Condition = (eb: Windows) => Expression<SqlBool>;

/** A count whose first pages had each transaction of its day: of a page or less. */
function isNamingCount(eb: Windows) {
  return eb.and([eb('run_windows.state', '=', 'counted'), eb('run_windows.total', '=', eb.ref('run_windows.seen'))]);
}

/** A reading that named each transaction of its days. */
function namesAll(eb: Windows) {
  return eb.or([eb('run_windows.state', '=', 'complete'), isNamingCount(eb)]);
}

async function readNewest(db: Reader, day: Day, which: Condition | 'any', since = new Date(0)) {
  return await db
    .selectFrom('run_windows')
    .innerJoin('runs', 'runs.seq', 'run_windows.run_seq')
    .select(['runs.id', 'runs.finished_at', 'run_windows.from_day', 'run_windows.to_day', 'run_windows.state'])
    .select(['asked_at', 'run_windows.total', 'run_windows.seen'])
    .where(which === 'any' ? (eb) => eb('run_windows.state', 'in', ['complete', 'counted', 'incomplete']) : which)
    .where('run_windows.platform', 'is', null)
    .where('run_windows.from_day', '<=', day)
    .where('run_windows.to_day', '>=', day)
    .where('run_windows.asked_at', '>=', since)
    .orderBy('run_windows.asked_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Whether the list of the day is known to leave a transaction out. */
export async function hasOmission(db: Reader, day: Day): Promise<boolean> {
  const row = await db
    .selectFrom('mismatches')
    .innerJoin('transactions', 'transactions.id', 'mismatches.transaction_id')
    .select('transactions.seq')
    .where('kind', '=', 'list_omission')
    .where('mismatches.state', '!=', 'resolved')
    .where('created_wall', '>=', `${day} 00:00:00`)
    .where('created_wall', '<', `${addDays(day, 1)} 00:00:00`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a transaction of the day came to be known after that instant. */
export async function hasEntrySince(db: Reader, day: Day, instant: Date): Promise<boolean> {
  const row = await db
    .selectFrom('transactions')
    .select('seq')
    .where('created_wall', '>=', `${day} 00:00:00`)
    .where('created_wall', '<', `${addDays(day, 1)} 00:00:00`)
    .where('first_seen_at', '>', instant)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Reads the newest of these readings, of each range of days that they were asked for. */
async function readSpans(db: Reader, { from, to }: { from: Day; to: Day }, which: Condition) {
  const found = selectNewestWindows(db).where(which).where('from_day', '<=', to).where('to_day', '>=', from);
  return toProvenWindows(await found.execute());
}

/** The days of open `row_refused` that may be of these: those of the row, else of the run that met it; else any day. */
async function listRefused(db: Reader, first: Day, last: Day): Promise<{ from: Day; to: Day }[]> {
  const rows = await db
    .selectFrom('mismatches')
    .leftJoin('runs', 'runs.seq', 'mismatches.run_seq')
    .select(['actual', 'from_day', 'to_day'])
    .where('kind', '=', 'row_refused')
    .where('mismatches.state', '!=', 'resolved')
    .execute();
  return rows
    .map(({ actual, from_day, to_day }) => {
      const { days } = JSON.parse(actual ?? '{}') as { days?: { from: Day; to: Day } };
      const [from, to] = [days?.from ?? from_day, days?.to ?? to_day];
      return from === null || to === null ? { from: first, to: last } : { from, to };
    })
    .filter(({ from, to }) => from <= last && to >= first);
}
