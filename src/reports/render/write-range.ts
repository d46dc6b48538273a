/**
 * Writes one file over several days, from one cut, with the steps of a day's files (write-report.ts). The workbook has no
 * *Alterações*: a range has no revision before it. A month that follows a closed one has *Ajustes de meses anteriores*.
 */
import type { Reader } from '../../database/reader.ts';
import { fill } from '../../texts/fill.ts';
import { formatMoment, formatMonth } from '../../texts/reports/texts.ts';
import type { AnyPlan, FileFormat, RangePlan } from '../plan/report-plan.ts';
import { type DayRow, listDayRows } from '../read/list-day-rows.ts';
import { readDayEnds } from '../read/read-day-ends.ts';
import type { SheetWriter } from '../xlsx/open-sheet.ts';
import { describeAdjustments } from './changes/describe-adjustments.ts';
import { ADJUSTMENT_COLUMNS } from './columns.ts';
import { finishWorkbook } from './finish-workbook.ts';
import type { FinishedTable } from './open-table.ts';
import { prepareWork } from './prepare-work.ts';
import { formatPeriod, openReportTable, type ReportWork } from './report-work.ts';
import type { Summary } from './start-section.ts';
import { listCarried } from './write-carried.ts';
import { writeMovements } from './write-movements.ts';
import { writeMismatches, writePending, writeReceivables } from './write-open-items.ts';
import { PERIOD_WIDTHS, writePeriodSummary } from './write-period-summary.ts';

/** `workbook`: from what a workbook was written. The caller reads it back in the same snapshot before anybody gets it. */
export type WrittenRange = { file: string; workbook: { work: ReportWork<AnyPlan>; digest: Buffer } | undefined };

/** @returns where the file was written under `directory`. */
export async function writeRange(db: Reader, plan: RangePlan, to: Target): Promise<WrittenRange> {
  let workbook: WrittenRange['workbook'];
  const file = await writeFile(db, plan, to, async (work, { tables, days }) => {
    if (!tables) return;
    const pending = await writePending(work);
    const digest = work.digest.end();
    const ends = await readDayEnds(db, { ...work.scope, balances: work.balances, days: days.map((one) => one.day) });
    const rows = listDayRows(plan.days, days, ends);
    const receivable = await writeReceivables(work);
    const mismatches = await writeMismatches(work);
    const adjustments = await writeAdjustments(work);
    const finished = { ...tables, pending, receivable, ...mismatches, adjustments };
    await finishWorkbook(work, finished, digest, describeSummary(work, rows, adjustments));
    workbook = { work, digest };
  });
  return { file, workbook };
}

type Target = { directory: string; format: FileFormat; signal: AbortSignal };
type Written = Awaited<ReturnType<typeof writeMovements>>;

/**
 * Writes the movements of a revision's cut, or of a range, in one format.
 * @param finish writes what else the file shows. @returns where the file was written.
 */
export async function writeFile<Plan extends AnyPlan>(
  db: Reader,
  plan: Plan,
  { directory, format, signal }: Target,
  finish: (work: ReportWork<Plan>, written: Written) => Promise<void> = async () => undefined,
): Promise<string> {
  const failed = new AbortController();
  const work = await prepareWork(db, plan, directory, AbortSignal.any([failed.signal, signal]));
  try {
    await finish(work, await writeMovements(work, [format]));
    return work.files[format];
  } catch (error) {
    failed.abort();
    throw error;
  }
}

/** Undefined where no earlier month was closed: then nothing was handed in that could move. */
async function writeAdjustments(work: ReportWork<RangePlan>): Promise<FinishedTable | undefined> {
  const { plan, rendering } = work;
  const { base } = plan;
  if (!base) return undefined;
  const at = formatMoment(plan.calendar.toWallTime(base.at));
  const note = fill(rendering.texts.notes.adjustments, { month: formatMonth(base.month), at });
  const adjustments = openReportTable(work, 'adjustments', ADJUSTMENT_COLUMNS, note);
  for await (const rows of describeAdjustments(work, base)) {
    work.signal.throwIfAborted();
    for (const row of rows) adjustments.add(row);
    await adjustments.drain();
  }
  return await adjustments.end();
}

function describeSummary(
  { plan, rendering: { texts }, tally, balances }: ReportWork<RangePlan>,
  days: DayRow[],
  adjustments: FinishedTable | undefined,
) {
  const period = formatPeriod(plan, texts);
  const carried = adjustments && listCarried(plan, balances, adjustments);
  const { label, number, numbers } = PERIOD_WIDTHS;
  return {
    name: texts.period.sheet,
    widths: [label, ...Array(Math.max(numbers, tally.platforms.size + 1)).fill(number)],
    write: (sheet: SheetWriter, summary: Summary<RangePlan>) => writePeriodSummary(sheet, summary, { days, carried }),
    title: fill(texts.period.title, { period }),
    subject: period,
    keywords: `${plan.days[0]?.day}..${plan.days.at(-1)?.day}`,
  };
}
