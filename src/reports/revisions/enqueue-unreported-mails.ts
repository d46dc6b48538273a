/**
 * Which revisions are to be mailed. The measure is the newest revision that people were told of by mail, not the one
 * before: what a person had made by hand was told to nobody, and the schedule may find nothing more to say.
 */
import type { Context } from '../../context.ts';
import { isDuplicateKey, transact } from '../../database/transact.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { type Cut, toWallTimeBounds } from '../plan/report-plan.ts';
import { listChangedStatements, readNewestStatements } from '../read/read-statements.ts';
import { compareStatusCounts } from '../render/compare-status-counts.ts';
import { enqueueReportMail, isReportMailEnabled } from './mail-reports.ts';
import { findRevision, type ReportRow, selectReports, toCut } from './present-report.ts';

/** A revision older than this counts as told: whoever begins to mail reports is not sent those of months. */
const UNTOLD_DAYS_MAX = 7;

type Revision = { day: Day; cut: Cut; digest: Buffer; madeAt: Date };

/** Whether this revision, of a day that is over, says more than the newest one told, its label and proof aside. */
export async function hasUnreportedChange(context: Context, revision: Revision): Promise<boolean> {
  const { db } = context;
  const told = await findTold(context, revision.day);
  if (!told || told.state === 'partial' || !told.digest.equals(revision.digest)) return true;
  if (await hasNewStatement(context, told, revision.madeAt)) return true;
  return (await compareStatusCounts(db, { ...revision, platform: undefined }, { cut: toCut(told) })).length > 0;
}

/** Whether a person has stated another balance of that day since: Resumo shows it, and the digest does not hold it. */
export async function hasNewStatement({ db }: Context, then: ReportRow, madeAt: Date): Promise<boolean> {
  const bounds = toWallTimeBounds(then.day, addDays(then.day, 1));
  const before = await readNewestStatements(db, { ...bounds, madeAt: then.made_at });
  const now = await readNewestStatements(db, { ...bounds, madeAt });
  return listChangedStatements(before, now).length > 0;
}

/** Owes the mail of each day's newest revision that a person had made of the whole day, and that tells news. */
export async function enqueueUnreportedMails(context: Context): Promise<void> {
  if (!isReportMailEnabled(context.config)) return;
  const rows = await context.db
    .selectFrom('reports')
    .leftJoin('report_mails', 'report_mails.report_seq', 'reports.seq')
    .select('reports.day')
    .where('reports.made_at', '>=', untoldFrom(context))
    .where('reports.state', '!=', 'partial')
    .where('report_mails.report_seq', 'is', null)
    .groupBy('reports.day')
    .execute();
  for (const { day } of rows) {
    if (context.signal.aborted) return;
    const newest = await findRevision(context.db, day);
    if (newest && (await isUntold(context, newest))) await oweOnce(context, newest.seq);
  }
}

/** Another process may have owed it meanwhile. */
async function oweOnce(context: Context, reportSeq: number): Promise<void> {
  try {
    await transact(context.db, (trx) => enqueueReportMail(trx, reportSeq, context.clock.now()));
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}

async function isUntold(context: Context, newest: ReportRow): Promise<boolean> {
  const { seq, day, digest, made_at: madeAt } = newest;
  const told = await findTold(context, day);
  return told?.seq !== seq && (await hasUnreportedChange(context, { day, digest, madeAt, cut: toCut(newest) }));
}

/** The newest revision of a day whose mail was owed, or that is too old to be told. */
async function findTold(context: Context, day: Day): Promise<ReportRow | undefined> {
  return await selectReports(context.db)
    .leftJoin('report_mails', 'report_mails.report_seq', 'reports.seq')
    .where('reports.day', '=', day)
    .where((eb) =>
      eb.or([eb('report_mails.report_seq', 'is not', null), eb('reports.made_at', '<', untoldFrom(context))]),
    )
    .orderBy('reports.revision', 'desc')
    .limit(1)
    .executeTakeFirst();
}

function untoldFrom({ clock, calendar }: Context): Date {
  return calendar.startOfDay(addDays(calendar.dayOf(clock.now()), -UNTOLD_DAYS_MAX));
}
