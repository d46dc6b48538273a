/**
 * Makes a file over several days on request. It is no revision: nothing of it is stored. The file is written to a directory
 * of drafts, from one cut taken now, and deleted once `use` returns.
 */
import type { Context } from '../../context.ts';
import { inSnapshot } from '../../database/in-snapshot.ts';
import { boundsOfMonth, DAY_MS, type Day, isDay, isMonth } from '../../domain/calendar.ts';
import type { Language } from '../../domain/language/language.ts';
import { maskPlatform } from '../../domain/person/mask-person.ts';
import { VERSION } from '../../domain/version.ts';
import { type MonthClose, readMonthClose } from '../../seal/read-month-closes.ts';
import { refuseField } from '../../texts/refuse.ts';
import { findCloseBefore, findMonthClose, readMonthOfRange, toClosedMonth } from '../plan/find-month-close.ts';
import {
  type FileFormat,
  type RangeDay,
  type RangePlan,
  type ReportState,
  ROWS_PER_SHEET_MAX,
  STATE_RANK,
} from '../plan/report-plan.ts';
import { takeCut } from '../plan/take-cut.ts';
import { assertPlatform } from '../read/assert-platform.ts';
import { alertDifferingReport } from '../readback/alert-differing-report.ts';
import { readBack } from '../readback/read-back.ts';
import { assertGroup } from '../render/formats/formats.ts';
import { writeRange } from '../render/write-range.ts';
import { classifyDays } from '../revisions/classify-days.ts';
import { nameReportFile } from '../revisions/name-report-file.ts';
import { useDraft } from './build-once.ts';

export const RANGE_DAYS_MAX = 92;

export type Range = { from: Day; to: Day };
export type WantedRange = Range & {
  format: FileFormat;
  platform?: string | undefined;
  locale?: Language | undefined;
  /** For a reader without the right to see personal data. */
  masked?: boolean;
  group?: 'day' | undefined;
  /** Ends the work when the client has left. */
  signal?: AbortSignal;
  rowsPerSheetMax?: number;
  /** By default RANGE_DAYS_MAX. */
  daysMax?: number;
};
export type RangeFile = { file: string; name: string; state: ReportState; days: number };

const RANGE = /^(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})$/;

/** Parses `2026-10`, or `2026-10-01..2026-10-15`; undefined for any other text. A running month ends with today. */
export function parseRange({ calendar, clock }: Context, text: string): Range | undefined {
  const [, from, to] = RANGE.exec(text) ?? [];
  if (from && to) return isDay(from) && isDay(to) ? { from, to } : undefined;
  if (!isMonth(text)) return undefined;
  const bounds = boundsOfMonth(text);
  const today = calendar.dayOf(clock.now());
  return { from: bounds.from, to: bounds.from <= today && today < bounds.to ? today : bounds.to };
}

/**
 * Writes the file of a range and passes it to `use`.
 * @throws ConfereError `invalid_request` for a range that is reversed, too long or ends in the future, or an unknown platform.
 */
export async function exportRange(
  context: Context,
  wanted: WantedRange,
  use: (made: RangeFile) => Promise<void>,
): Promise<void> {
  assertRange(context, wanted);
  const { from, to, format, platform, masked = false, group } = wanted;
  assertGroup(format, group);
  if (platform !== undefined) await assertPlatform(context.db, platform, { from, to });
  const build = async (directory: string, signal: AbortSignal) => {
    const plan = await planRange(context, wanted);
    const file = await alertDifferingReport(context, { from, to, isKept: false }, () =>
      inSnapshot(context.db, async (snapshot) => {
        const written = await writeRange(snapshot, plan, { directory, format, signal });
        if (written.workbook) await readBack(written.workbook);
        return written.file;
      }),
    );
    return { file, state: plan.state, days: plan.days.length };
  };
  await useDraft(context, wanted.signal, build, async (made) => {
    const shown = platform !== undefined && masked ? maskPlatform(platform) : platform;
    const otherLocale = wanted.locale === context.config.REPORT_LOCALE ? undefined : wanted.locale;
    const named = { day: `${from}-${to}`, platform: shown, format, otherLocale, masked, group };
    await use({ ...made, name: nameReportFile(named) });
  });
}

/** @throws ConfereError `invalid_request` for a range that is reversed, too long or ends in the future. */
export function assertRange(
  context: Context,
  { from, to, daysMax = RANGE_DAYS_MAX }: Pick<WantedRange, 'from' | 'to' | 'daysMax'>,
): void {
  const days = 1 + (Date.parse(to) - Date.parse(from)) / DAY_MS;
  const today = context.calendar.dayOf(context.clock.now());
  if (days < 1) throw refuseField('range', 'range_reversed', { from, to });
  if (to > today) throw refuseField('range', 'range_to_come', { to, today });
  if (days > daysMax) throw refuseField('range', 'range_too_long', { days, n: daysMax });
}

/** The plan of a closed month is the one of its close; any other range is cut now. */
async function planRange(context: Context, wanted: WantedRange): Promise<RangePlan> {
  const { calendar, clock, config, db } = context;
  const month = readMonthOfRange(wanted, calendar.dayOf(clock.now()));
  const close = month === undefined ? undefined : await findMonthClose(db, month);
  const before = month === undefined || close ? undefined : await findCloseBefore(db, month);
  const base = close?.baseSeq ? await readMonthClose(db, close.baseSeq) : before;
  const taken = close ? readClosedPlan(close) : await takePlan(context, wanted);
  return {
    ...taken,
    base: base && toClosedMonth(base),
    state: close ? 'closed' : lowestState(taken.days),
    locale: wanted.locale ?? config.REPORT_LOCALE,
    fullDocuments: taken.fullDocuments && !wanted.masked,
    masked: wanted.masked ?? false,
    platform: wanted.platform,
    rowsPerSheetMax: wanted.rowsPerSheetMax ?? ROWS_PER_SHEET_MAX,
    calendar,
    isRedacted: false,
    group: wanted.group,
  };
}

/** Returns the state of the least final day. */
function lowestState(days: RangeDay[]): ReportState {
  return days.reduce<ReportState>(
    (lowest, { state }) => (STATE_RANK[state] < STATE_RANK[lowest] ? state : lowest),
    'closed',
  );
}

type Taken = Pick<RangePlan, 'days' | 'cut' | 'madeAt' | 'fullDocuments' | 'version' | 'close'>;

async function takePlan(context: Context, { from, to }: Range): Promise<Taken> {
  const cut = await takeCut(context);
  const madeAt = context.clock.now();
  const days = await classifyDays(context, { from, to }, madeAt);
  return { days, cut, madeAt, fullDocuments: context.config.REPORT_FULL_DOCUMENTS, version: VERSION };
}

function readClosedPlan(row: MonthClose): Taken {
  const close = toClosedMonth(row);
  // close-month.ts writes it; earlier versions said `proven` only of days that were read: a closed day of them was counted
  const days = (JSON.parse(row.days) as RangeDay[]).map((one) =>
    one.state === 'closed' && !one.proven ? { ...one, proven: true, counted: true } : one,
  );
  const { fullDocuments, version } = row;
  return { days, cut: close.cut, madeAt: close.at, fullDocuments, version, close };
}
