/**
 * Makes the next revision of a day's report, if anything changed. A revision is a day and a cut: its rows are those of the
 * append-only ledger up to the cut, and a digest identifies them. An equal digest makes no revision, unless
 * - Resumo's status counts changed: some status changes have no row; or
 * - its receipts are of other orders than the revision before shows; or
 * - the day's state rose (partial, provisional, closed), or the day was proven; or
 * - a person stated another balance of the day.
 *
 * The files are written as drafts, read back (../readback/read-back.ts) and flushed, then the row is inserted, then the drafts are renamed. A revision without
 * files is rebuilt from its row. A file without a row is never served.
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { inSnapshot } from '../../database/in-snapshot.ts';
import type { Reader } from '../../database/reader.ts';
import { transact } from '../../database/transact.ts';
import type { Day } from '../../domain/calendar.ts';
import { InvariantError } from '../../domain/errors.ts';
import { VERSION } from '../../domain/version.ts';
import { checkDayBegun } from '../../ledger/stated/check-stated.ts';
import { refuse } from '../../texts/refuse.ts';
import { countWindowEvents, type EventWindow } from '../plan/read-event-window.ts';
import {
  type Cut,
  isProven,
  type PreviousRevision,
  type ReportPlan,
  type ReportState,
  ROWS_PER_SHEET_MAX,
  STATE_RANK,
} from '../plan/report-plan.ts';
import { takeCut } from '../plan/take-cut.ts';
import { collectFigures } from '../read/report-figures.ts';
import { alertDifferingReport } from '../readback/alert-differing-report.ts';
import { readBack } from '../readback/read-back.ts';
import { haveOtherOrders } from '../render/changes/compare-orders.ts';
import { compareStatusCounts } from '../render/changes/compare-status-counts.ts';
import { writeReport } from '../render/write-report.ts';
import { classifyDay, type DayClassification } from './classify-day.ts';
import { hasNewStatement, hasUnreportedChange } from './enqueue-unreported-mails.ts';
import { insertRevision } from './insert-revision.ts';
import { isReportMailEnabled } from './mail-reports.ts';
import { mayHaveChanged } from './may-have-changed.ts';
import { nameReportFile } from './name-report-file.ts';
import { findRevision, presentReport, type Report, type ReportRow, toCut } from './present-report.ts';
import { finalizeDrafts, publishDrafts, withDrafts } from './publish-drafts.ts';
import { resolveChangedDay } from './resolve-changed-day.ts';

export type MadeReport = { report: Report; changed: boolean };
/** `isScheduled`: mails the revision, unless only the day's state or proof changed since the last mail. */
type Options = { rowsPerSheetMax?: number; isScheduled?: boolean };

const RACES_MAX = 5;

/**
 * Makes the day's next revision, or returns the newest one if nothing has changed.
 * @throws ConfereError `invalid_request` for an invalid day, or one that has not begun; `conflict` after five lost races;
 *   `report_differs` for a workbook that differs from the ledger.
 */
export async function makeReport(context: Context, day: Day, options: Options = {}): Promise<MadeReport> {
  checkDayBegun(context, day);
  return await alertDifferingReport(context, { from: day, to: day, isKept: true }, async () => {
    for (let race = 0; race < RACES_MAX; race++) {
      const made = await tryMake(context, day, options);
      if (made) return made;
    }
    throw refuse('report_raced', { day });
  });
}

export function reportsDirectory(context: Pick<Context, 'config'>): string {
  return path.resolve(context.config.DATA_DIR, 'reports');
}

/** @returns undefined if another process made this revision first. */
async function tryMake(context: Context, day: Day, options: Options): Promise<MadeReport | undefined> {
  const newest = await findRevision(context.db, day);
  const cut = await takeCut(context);
  const madeAt = context.clock.now();
  const classification = await classifyDay(context.db, day, madeAt, context.calendar);
  const plan = planNext(context, day, { newest, cut, madeAt, classification, options });
  const isStated = newest !== undefined && (await hasNewStatement(context, newest, madeAt));
  const improves = newest !== undefined && (isStated || hasImproved(newest, plan));
  if (newest && !improves && !(await mayHaveChanged(context, newest, cut))) {
    return { report: presentReport(newest), changed: false };
  }
  const directory = reportsDirectory(context);
  return await withDrafts(directory, randomUUID(), async (drafts) => {
    // before the snapshot: a later event then makes the counts differ, and the next check reads the rows again
    const eventCount = newest && (await countWindowEvents(context.db, newest.cut_event_seq));
    const written = await inSnapshot(context.db, (snapshot) => writeCompared(snapshot, plan, { drafts, improves }));
    if (newest && !improves && !written.hasChanged) {
      await recordCheck(context, newest, { cut, eventWindow: written.eventWindow, eventCount });
      return { report: presentReport(newest), changed: false };
    }
    const finished = await finalizeDrafts(written.files, (format) => nameReportFile({ ...plan, format }));
    const files = finished.map((one) => one.facts);
    const { digest, eventWindow, figures } = written;
    const ordersDigest = written.work.shares?.digest() ?? null;
    const mayMail = options.isScheduled === true && isReportMailEnabled(context.config);
    const isMailed = mayMail && (await hasUnreportedChange(context, { ...plan, digest }));
    const revision = { digest, ordersDigest, eventWindow, files, figures, isMailed };
    if (!(await insertRevision(context, plan, revision))) return undefined;
    await publishDrafts(directory, finished);
    const row = await findRevision(context.db, day, plan.revision);
    if (!row) throw new InvariantError(`revision ${plan.revision} of ${day} was inserted but is not found`);
    context.log.info({ day, revision: plan.revision, state: plan.state }, 'report made');
    return { report: presentReport(row), changed: true };
  });
}

/**
 * Writes the files, and reads the workbook back if it is published. `hasChanged`: their rows, or Resumo's counts, differ from
 * those of the revision before.
 */
async function writeCompared(
  db: Reader,
  plan: ReportPlan,
  { drafts, improves }: { drafts: string; improves: boolean },
) {
  const written = await writeReport(db, plan, drafts);
  const { previous } = plan;
  const isSame =
    previous?.digest.equals(written.digest) &&
    !haveOtherOrders(written.work, previous) &&
    (await compareStatusCounts(db, plan, previous)).length === 0;
  if (!isSame || improves) await readBack(written);
  const figures = await collectFigures(db, written.platforms, plan.cut.mismatchChangeSeq);
  return { ...written, figures, hasChanged: !isSame };
}

type Next = {
  newest: ReportRow | undefined;
  cut: Cut;
  madeAt: Date;
  classification: DayClassification;
  options: Options;
};

function planNext(context: Context, day: Day, { newest, cut, madeAt, classification, options }: Next): ReportPlan {
  return {
    day,
    revision: (newest?.revision ?? 0) + 1,
    cut,
    previous: newest && toPreviousRevision(newest),
    ...classification,
    madeAt,
    locale: context.config.REPORT_LOCALE,
    fullDocuments: context.config.REPORT_FULL_DOCUMENTS,
    masked: false,
    platform: undefined,
    version: VERSION,
    rowsPerSheetMax: options.rowsPerSheetMax ?? ROWS_PER_SHEET_MAX,
    calendar: context.calendar,
    isRedacted: false,
  };
}

export function toPreviousRevision(row: ReportRow): PreviousRevision {
  const { revision, made_at: madeAt, digest, orders_digest: ordersDigest } = row;
  const state = row.state as ReportState;
  return { revision, cut: toCut(row), state, proven: row.proven === 1, madeAt, digest, ordersDigest };
}

/** Whether the day's state rose, or the day was proven, since its newest revision: at most twice for a day. */
export function hasImproved(newest: { state: string; proven: number }, now: DayClassification): boolean {
  if (STATE_RANK[now.state] > STATE_RANK[newest.state as ReportState]) return true;
  return newest.proven === 0 && isProven(now);
}

/** `eventCount`: the events in the window of the newest revision's cut. */
type Checked = { cut: Cut; eventWindow: EventWindow; eventCount: number | undefined };

async function recordCheck(
  { db, clock }: Context,
  newest: ReportRow,
  { cut, eventWindow, eventCount }: Checked,
): Promise<void> {
  await transact(db, async (trx) => {
    await trx
      .updateTable('reports')
      .set({
        checked_entry_seq: cut.entrySeq,
        checked_event_seq: cut.eventSeq,
        checked_fact_change_seq: cut.factChangeSeq,
        ...(newest.checked_match_seq === null ? {} : { checked_match_seq: cut.orders?.matchSeq ?? null }),
        ...(newest.checked_event_count === null ? {} : { checked_event_count: eventCount ?? null }),
      })
      .where('seq', '=', newest.seq)
      .execute();
    await resolveChangedDay(trx, { day: newest.day, cut }, eventWindow, clock.now());
  });
}
