/**
 * Makes a file over several days on request. It is no revision: nothing of it is stored. The file is written to a directory
 * of drafts, from one cut taken now, and deleted once `use` returns.
 */
import type { Context } from '../../context.ts';
import { inSnapshot } from '../../database/in-snapshot.ts';
import { addDays, type Day, isDay, listDays } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { maskPlatform } from '../../domain/person/mask-person.ts';
import { VERSION } from '../../domain/version.ts';
import {
  type FileFormat,
  type Locale,
  type RangeDay,
  type RangePlan,
  type ReportState,
  ROWS_PER_SHEET_MAX,
  STATE_RANK,
} from '../plan/report-plan.ts';
import { takeCut } from '../plan/take-cut.ts';
import { assertPlatform } from '../read/assert-platform.ts';
import { writeRange } from '../render/write-range.ts';
import { isReadWhole } from '../render/write-summary.ts';
import { classifyDay } from '../revisions/classify-day.ts';
import { nameReportFile } from '../revisions/name-report-file.ts';
import { useDraft } from './build-once.ts';

export const RANGE_DAYS_MAX = 92;

export type Range = { from: Day; to: Day };
export type WantedRange = Range & {
  format: FileFormat;
  platform?: string | undefined;
  locale?: Locale | undefined;
  /** For a reader without the right to see personal data. */
  masked?: boolean;
  /** Ends the work when the client has left. */
  signal?: AbortSignal;
  rowsPerSheetMax?: number;
  /** By default RANGE_DAYS_MAX. */
  daysMax?: number;
};
export type RangeFile = { file: string; name: string; state: ReportState; days: number };

const DAY_MS = 86_400_000;
const MONTH = /^(\d{4}-\d{2})$/;
const RANGE = /^(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})$/;

/** Parses `2026-10`, or `2026-10-01..2026-10-15`; undefined for any other text. A running month ends with today. */
export function parseRange({ calendar, clock }: Context, text: string): Range | undefined {
  const [, from, to] = RANGE.exec(text) ?? [];
  if (from && to) return isDay(from) && isDay(to) ? { from, to } : undefined;
  const first = `${MONTH.exec(text)?.[1]}-01`;
  if (!isDay(first)) return undefined;
  const last = addDays(`${addDays(first, 31).slice(0, 7)}-01`, -1);
  const today = calendar.dayOf(clock.now());
  return { from: first, to: first <= today && today < last ? today : last };
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
  const { from, to, format, platform, masked = false } = wanted;
  if (platform !== undefined) await assertPlatform(context.db, platform, { from, to });
  const build = async (directory: string, signal: AbortSignal) => {
    const plan = await planRange(context, wanted);
    const file = await inSnapshot(context.db, (snapshot) => writeRange(snapshot, plan, { directory, format, signal }));
    return { file, state: plan.state, days: plan.days.length };
  };
  await useDraft(context, wanted.signal, build, async (made) => {
    const shown = platform !== undefined && masked ? maskPlatform(platform) : platform;
    const otherLocale = wanted.locale === context.config.REPORT_LOCALE ? undefined : wanted.locale;
    const named = { day: `${from}-${to}`, platform: shown, format, otherLocale, masked };
    await use({ ...made, name: nameReportFile(named) });
  });
}

function assertRange(context: Context, { from, to, daysMax = RANGE_DAYS_MAX }: WantedRange): void {
  const days = 1 + (Date.parse(to) - Date.parse(from)) / DAY_MS;
  const fault =
    days < 1
      ? `${from} is after ${to}`
      : to > context.calendar.dayOf(context.clock.now())
        ? `${to} has not begun: there is nothing to report`
        : days > daysMax
          ? `${from} to ${to} are ${days} days: at most ${daysMax} are allowed`
          : undefined;
  if (fault !== undefined) throw new ConfereError('invalid_request', fault, { fields: { range: [fault] } });
}

async function planRange(context: Context, wanted: WantedRange): Promise<RangePlan> {
  const { config, calendar, clock, db } = context;
  const cut = await takeCut(context);
  const madeAt = clock.now();
  const days: RangeDay[] = [];
  for (const day of listDays(wanted.from, wanted.to)) {
    const { state, reading } = await classifyDay(db, day, madeAt, calendar);
    days.push({ day, state, proven: isReadWhole({ day, state, reading, calendar }) });
  }
  return {
    days,
    state: days.reduce<ReportState>(
      (lowest, one) => (STATE_RANK[one.state] < STATE_RANK[lowest] ? one.state : lowest),
      'closed',
    ),
    cut,
    madeAt,
    locale: wanted.locale ?? config.REPORT_LOCALE,
    fullDocuments: config.REPORT_FULL_DOCUMENTS && !wanted.masked,
    masked: wanted.masked ?? false,
    platform: wanted.platform,
    version: VERSION,
    rowsPerSheetMax: wanted.rowsPerSheetMax ?? ROWS_PER_SHEET_MAX,
    calendar,
    isRedacted: false,
  };
}
