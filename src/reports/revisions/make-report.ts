/**
 * Makes the next revision of a day's report, if there is anything new to say. A revision is a day and a cut: its rows
 * are what the append-only ledger held up to there, told by a digest. An equal digest makes no revision, unless Resumo
 * counts other changes of status, which no row may show; or the day has come closer to its end: from partial to provisional to closed, or from unproven to proven; or a
 * person has stated a balance of it since.
 *
 * The files are written under other names and flushed, then the row is inserted, then the files get their names: a
 * revision whose files are missing is made again from its row, and a file without a row is never seen.
 */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { inSnapshot } from '../../database/in-snapshot.ts';
import type { Reader } from '../../database/reader.ts';
import { transact } from '../../database/transact.ts';
import { type Day, isDay } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { countWindowEvents, type EventWindow } from '../plan/read-event-window.ts';
import {
  type Cut,
  FORMATS,
  type PreviousRevision,
  type ReportPlan,
  type ReportState,
  ROWS_PER_SHEET_MAX,
  STATE_RANK,
} from '../plan/report-plan.ts';
import { takeCut } from '../plan/take-cut.ts';
import { compareStatusCounts } from '../render/compare-status-counts.ts';
import { writeReport } from '../render/write-report.ts';
import { isProven } from '../render/write-summary.ts';
import { classifyDay, type DayClassification } from './classify-day.ts';
import { hasNewStatement, hasUnreportedChange } from './enqueue-unreported-mails.ts';
import { insertRevision } from './insert-revision.ts';
import { isReportMailEnabled } from './mail-reports.ts';
import { mayHaveChanged } from './may-have-changed.ts';
import { nameReportFile } from './name-report-file.ts';
import { findRevision, presentReport, type Report, type ReportRow, toCut } from './present-report.ts';
import { finalizeDraft, publishDrafts, type ReportFile, withDrafts } from './publish-drafts.ts';
import { resolveChangedDay } from './resolve-changed-day.ts';

export type MadeReport = { report: Report; changed: boolean };
/** One that is made by the schedule is mailed, unless the day's label or proof is all that nobody was told of. */
type Options = { rowsPerSheetMax?: number; isScheduled?: boolean };

/** The version in package.json, read once. */
export const VERSION = (createRequire(import.meta.url)('../../../package.json') as { version: string }).version;
const RACES_MAX = 5;

/**
 * Makes the day's next revision, or gives the newest one where nothing has changed.
 * @throws ConfereError `invalid_request` for what is no day, or one that has not begun.
 */
export async function makeReport(context: Context, day: Day, options: Options = {}): Promise<MadeReport> {
  assertBegun(context, day);
  for (let race = 0; race < RACES_MAX; race++) {
    const made = await tryMake(context, day, options);
    if (made) return made;
  }
  throw new ConfereError('conflict', `the report of ${day} is being made by others again and again: try later`);
}

export function reportsDirectory(context: Pick<Context, 'config'>): string {
  return path.resolve(context.config.DATA_DIR, 'reports');
}

function assertBegun(context: Context, day: Day): void {
  const fault = (message: string): ConfereError =>
    new ConfereError('invalid_request', message, { fields: { day: [message] } });
  if (!isDay(day)) throw fault(`${day} is no day: write it as 2026-11-20`);
  if (day > context.calendar.dayOf(context.clock.now()))
    throw fault(`${day} has not begun: there is nothing to report`);
}

/** @returns undefined when another process made this revision first. */
async function tryMake(context: Context, day: Day, options: Options): Promise<MadeReport | undefined> {
  const newest = await findRevision(context.db, day);
  const cut = await takeCut(context);
  const madeAt = context.clock.now();
  const judgement = await classifyDay(context.db, day, madeAt, context.calendar);
  const plan = planNext(context, day, { newest, cut, madeAt, judgement, options });
  const isStated = newest !== undefined && (await hasNewStatement(context, newest, madeAt));
  const improves = newest !== undefined && (isStated || hasImproved(newest, plan));
  if (newest && !improves && !(await mayHaveChanged(context, newest, cut))) {
    return { report: presentReport(newest), changed: false };
  }
  const directory = reportsDirectory(context);
  return await withDrafts(directory, randomUUID(), async (drafts) => {
    const eventsThen = newest && (await countWindowEvents(context.db, newest.cut_event_seq));
    const written = await inSnapshot(context.db, (snapshot) => writeCompared(snapshot, plan, drafts));
    if (newest && !improves && !written.hasChanged) {
      await noteChecked(context, newest, { cut, eventWindow: written.eventWindow, eventCount: eventsThen });
      return { report: presentReport(newest), changed: false };
    }
    const sealed: { draft: string; facts: ReportFile }[] = [];
    for (const format of FORMATS) {
      const name = nameReportFile({ ...plan, format });
      sealed.push({
        draft: written.files[format],
        facts: await finalizeDraft(written.files[format], { format, name }),
      });
    }
    const files = sealed.map((one) => one.facts);
    const { digest, eventWindow } = written;
    const mayMail = options.isScheduled === true && isReportMailEnabled(context.config);
    const isMailed = mayMail && (await hasUnreportedChange(context, { ...plan, digest }));
    const revision = { digest, eventWindow, files, isMailed };
    if (!(await insertRevision(context, plan, revision))) return undefined;
    await publishDrafts(directory, sealed);
    const row = await findRevision(context.db, day, plan.revision);
    if (!row) throw new Error(`revision ${plan.revision} of ${day} was inserted but is not found`);
    context.log.info({ day, revision: plan.revision, state: plan.state }, 'report made');
    return { report: presentReport(row), changed: true };
  });
}

/** The files, and whether their rows, or Resumo's counts, are others than those of the revision before. */
async function writeCompared(db: Reader, plan: ReportPlan, drafts: string) {
  const written = await writeReport(db, plan, drafts);
  const { previous } = plan;
  const isSame =
    previous?.digest.equals(written.digest) && (await compareStatusCounts(db, plan, previous)).length === 0;
  return { ...written, hasChanged: !isSame };
}

type Next = { newest: ReportRow | undefined; cut: Cut; madeAt: Date; judgement: DayClassification; options: Options };

function planNext(context: Context, day: Day, { newest, cut, madeAt, judgement, options }: Next): ReportPlan {
  return {
    day,
    revision: (newest?.revision ?? 0) + 1,
    cut,
    previous: newest && toPreviousRevision(newest),
    ...judgement,
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
  const { revision, made_at: madeAt, digest } = row;
  return { revision, cut: toCut(row), state: row.state as ReportState, proven: row.proven === 1, madeAt, digest };
}

/** Whether the day's label or its proof has come further than its newest revision says: at most twice in a day's life. */
export function hasImproved(
  newest: { state: string; proven: number },
  now: Pick<ReportPlan, 'state' | 'proof' | 'calendar' | 'day'>,
): boolean {
  if (STATE_RANK[now.state] > STATE_RANK[newest.state as ReportState]) return true;
  return newest.proven === 0 && isProven(now);
}

type Checked = { cut: Cut; eventWindow: EventWindow; eventCount: number | undefined };

async function noteChecked(
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
        ...(newest.checked_event_count === null ? {} : { checked_event_count: eventCount ?? null }),
      })
      .where('seq', '=', newest.seq)
      .execute();
    await resolveChangedDay(trx, { day: newest.day, cut }, eventWindow, clock.now());
  });
}
