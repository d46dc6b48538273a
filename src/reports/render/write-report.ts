/**
 * Writes the workbook, the CSV and the journal of one revision, in one pass over the day's movements. All rows come from
 * the caller's snapshot and everything else from the plan, so equal plans give equal files on any machine. Memory does
 * not grow with the day: rows go to the disk by the chunk, each sheet into a file of its own. Resumo, whose sums need
 * all rows, is written last and packed first.
 */
import type { Reader } from '../../database/reader.ts';
import { fill } from '../../texts/fill.ts';
import { formatDay } from '../../texts/reports/texts.ts';
import { type EventWindow, readEventWindow } from '../plan/read-event-window.ts';
import { FORMATS, type Format, type ReportPlan } from '../plan/report-plan.ts';
import type { PlatformTotals } from '../read/create-tally.ts';
import { describeChanges } from './changes/describe-changes.ts';
import * as columns from './columns.ts';
import { finishWorkbook } from './finish-workbook.ts';
import { prepareWork } from './prepare-work.ts';
import { openReportTable, type ReportWork } from './report-work.ts';
import { writeMovements } from './write-movements.ts';
import { writeMismatches, writePending, writeReceivables } from './write-open-items.ts';
import { SUMMARY_WIDTHS, writeSummary } from './write-summary.ts';

/** `eventWindow` comes from the snapshot of the rows; `platforms` are the totals of Resumo; `work`: from what it was written. */
export type WrittenReport = {
  digest: Buffer;
  files: Record<Format, string>;
  eventWindow: EventWindow;
  platforms: ReadonlyMap<string, PlatformTotals>;
  work: ReportWork;
};

/**
 * The caller reads the workbook back in the same snapshot (`../readback/read-back.ts`) before anybody gets it.
 * @returns where each format was written under `directory`, which the caller makes and removes.
 */
export async function writeReport(db: Reader, plan: ReportPlan, directory: string): Promise<WrittenReport> {
  const failed = new AbortController();
  const work = await prepareWork(db, plan, directory, failed.signal);
  try {
    const { tables } = await writeMovements(work, FORMATS);
    if (!tables) throw new Error('a day has a workbook');
    const pending = await writePending(work);
    const digest = work.digest.end();
    const receivable = await writeReceivables(work);
    const mismatches = await writeMismatches(work);
    const changes = await writeChanges(work, digest);
    await finishWorkbook(
      work,
      { ...tables, pending, receivable, ...mismatches, changes },
      digest,
      describeSummary(work),
    );
    const eventWindow = plan.cut.eventWindow ?? (await readEventWindow(db, plan.cut.eventSeq));
    return { digest, files: work.files, eventWindow, platforms: work.tally.platforms, work };
  } catch (error) {
    failed.abort();
    throw error;
  }
}

async function writeChanges(work: ReportWork, digest: Buffer) {
  const { note, rows: chunks } = describeChanges(work, digest);
  const changes = openReportTable(work, 'changes', columns.CHANGE_COLUMNS, note);
  for await (const rows of chunks) {
    for (const row of rows) changes.add(row);
    await changes.drain();
  }
  return await changes.end();
}

function describeSummary({ plan, rendering: { texts }, tally }: ReportWork) {
  return {
    name: texts.sheets.summary,
    widths: [SUMMARY_WIDTHS.label, ...Array(Math.max(4, tally.platforms.size + 1)).fill(SUMMARY_WIDTHS.number)],
    write: writeSummary,
    title: fill(texts.summary.title, { day: formatDay(plan.day) }),
    subject: `${texts.summary.revision} ${plan.revision}`,
    keywords: `${plan.day} r${plan.revision}`,
  };
}
