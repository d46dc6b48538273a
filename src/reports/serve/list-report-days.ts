/**
 * Days of the calendar with the state of their reports, what a day still lacks, and the figures of its newest revision. It
 * reads the rows of `reports`, the newest reading of each range of days, and sums of days: no transaction and no posting.
 */
import { isZoneAlertFiring } from '../../alerts/zone-alert.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays, type Day, listDays } from '../../domain/calendar.ts';
import { provesDay } from '../../domain/late-days.ts';
import { findFirstDay } from '../../seal/find-first-day.ts';
import { readSpanSums } from '../../seal/read-span-sums.ts';
import { type ReportState, toWallTimeBounds } from '../plan/report-plan.ts';
import { AVAILABLE, HELD, platformAccountSegment, splitAccount } from '../read/read-accounts.ts';
import { type Figures, parseFigures } from '../read/report-figures.ts';
import { listUnread } from '../revisions/classify-day.ts';
import type { ReportFile } from '../revisions/publish-drafts.ts';
import { readProofWindows } from '../revisions/read-proof-windows.ts';
import { listChangedDays } from '../revisions/resolve-changed-day.ts';
import { type DayRevision, type DecidedDay, decideDay } from './decide-day.ts';

export type ReportDay = DecidedDay & {
  day: Day;
  /** The day's revisions, the newest first; `figures` undefined where it stores none yet. */
  revisions: (DayRevision & { figures: Figures | undefined })[];
  /** The figures of the newest revision. */
  figures: Figures | undefined;
  /** The balance at the day's end as the ledger knows it now, in cents. */
  ledger: DayBalance;
};

type DayBalance = { closing: bigint; held: bigint };
const NO_BALANCE: DayBalance = { closing: 0n, held: 0n };

/**
 * Lists the days of a range, oldest first.
 * @param platform limits figures and balances to one platform.
 */
export async function listReportDays(
  context: Context,
  { from, to, platform }: { from: Day; to: Day; platform?: string | undefined },
): Promise<ReportDay[]> {
  const { db, calendar, clock } = context;
  const now = clock.now();
  const [rows, windows, ends, changed, isInDoubt, firstDay] = await Promise.all([
    readRevisions(db, from, to),
    readProofWindows(db, { from, to }),
    readDayEnds(context, { from, to, platform }),
    listChangedDays(db),
    isZoneAlertFiring(db),
    findFirstKnownDay(db),
  ]);
  const byDay = Map.groupBy(rows, (row) => row.day);
  return listDays(from, to).map((day, index) => {
    const rowsOfDay = byDay.get(day) ?? [];
    const own = rowsOfDay.map((row) => ({ ...row, figures: parseFigures(row.figures, platform) }));
    const { ledger, all } = ends[index] ?? { ledger: NO_BALANCE, all: NO_BALANCE };
    const endsAt = calendar.endOfDay(day);
    const decided = decideDay({
      ...{ day, firstDay, isInDoubt, revisions: own },
      today: calendar.dayOf(now),
      unread: now < endsAt ? [] : listUnread(day, windows, calendar.provableFrom(day)),
      isReadWhole: windows.some((one) => one.isWhole && provesDay(one, day, calendar.provableFrom(day))),
      hasChanged:
        changed.includes(day) ||
        differs(own[0]?.figures, ledger) ||
        differs(parseFigures(rowsOfDay[0]?.figures ?? null, undefined), all),
    });
    return { day, ...decided, revisions: own, figures: own[0]?.figures, ledger };
  });
}

/** Whether a revision's balance is no longer the ledger's: an entry of an earlier day changes the later days too. */
function differs(figures: Figures | undefined, { closing, held }: DayBalance): boolean {
  return figures !== undefined && (figures.closing !== closing || figures.held !== held);
}

/** The first day with an entry or a report: earlier days have nothing to show. */
async function findFirstKnownDay(db: Reader): Promise<Day | undefined> {
  const report = await db.selectFrom('reports').select('day').orderBy('day').limit(1).executeTakeFirst();
  return [await findFirstDay(db), report?.day].filter((day) => day !== undefined).sort()[0];
}

async function readRevisions(db: Reader, from: Day, to: Day): Promise<(DayRevision & { figures: string | null })[]> {
  const rows = await db
    .selectFrom('reports')
    .select([
      'day',
      'revision',
      'state',
      'made_at',
      'proven',
      'proven_run_seq',
      'digest',
      'figures',
      'redacted_at',
      'files',
    ])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day')
    .orderBy('revision', 'desc')
    .execute();
  return rows.map((row) => ({
    ...{ day: row.day, revision: row.revision, madeAt: row.made_at, figures: row.figures },
    // insert-revision.ts writes only these
    state: row.state as ReportState,
    proven: row.proven === 1,
    isReadWhole: row.proven === 1 && row.proven_run_seq !== null,
    digest: row.digest.toString('hex'),
    isRedacted: row.redacted_at !== null,
    rebuilt: (JSON.parse(row.files) as ReportFile[]).find((file) => file.rebuilt !== undefined)?.rebuilt,
  }));
}

/** The balance at the end of each day, of one platform (`ledger`) and of all. */
async function readDayEnds(
  { db }: Context,
  { from, to, platform }: { from: Day; to: Day; platform: string | undefined },
): Promise<{ ledger: DayBalance; all: DayBalance }[]> {
  const segment = platform === undefined ? undefined : platformAccountSegment(platform);
  const accounts = await db.selectFrom('accounts').select(['seq', 'name']).execute();
  const listOf = (wanted: string, isOwn: boolean): number[] =>
    accounts.flatMap(({ seq, name }) => {
      const { root, platform: of } = splitAccount(name);
      return root === wanted && (segment === undefined || of === segment) === isOwn ? [seq] : [];
    });
  const groups = {
    ...{ available: listOf(AVAILABLE, true), held: listOf(HELD, true) },
    ...{ otherAvailable: listOf(AVAILABLE, false), otherHeld: listOf(HELD, false) },
  };
  const { start, end } = toWallTimeBounds(from, addDays(to, 1));
  const { before, spans } = await readSpanSums(db, groups, { grain: 'day', from: start, to: end });
  const sums = { ...before };
  const names = Object.keys(groups) as (keyof typeof groups)[];
  return listDays(from, to).map((day) => {
    for (const name of names) sums[name] += spans.get(day)?.[name] ?? 0n;
    const ledger = { closing: sums.available + sums.held, held: sums.held };
    const others = sums.otherAvailable + sums.otherHeld;
    return { ledger, all: { closing: ledger.closing + others, held: sums.held + sums.otherHeld } };
  });
}
