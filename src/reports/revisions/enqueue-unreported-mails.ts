/**
 * Decides which revisions to mail: those that differ from the newest mailed revision. The previous revision is no measure:
 * a person may have made it by hand, without a mail, and the schedule then finds nothing new to add.
 */
import type { Context } from '../../context.ts';
import { isDuplicateKey, transact } from '../../database/transact.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { type Cut, toWallTimeBounds } from '../plan/report-plan.ts';
import { listChangedStatements, readNewestStatements } from '../read/read-statements.ts';
import { compareStatusCounts } from '../render/changes/compare-status-counts.ts';
import { enqueueReportMail, isReportMailEnabled } from './mail-reports.ts';
import { findRevision, type ReportRow, selectReports, toCut } from './present-report.ts';

/** A revision older than this counts as mailed: the first mails after a set-up are not those of months. */
const UNMAILED_DAYS_MAX = 7;

type Revision = { day: Day; cut: Cut; digest: Buffer; madeAt: Date };

/** Whether a revision of an ended day differs from the newest mailed one in more than state and proof. */
export async function hasUnreportedChange(context: Context, revision: Revision): Promise<boolean> {
  const { db } = context;
  const mailed = await findMailed(context, revision.day);
  if (!mailed || mailed.state === 'partial' || !mailed.digest.equals(revision.digest)) return true;
  if (await hasNewStatement(context, mailed, revision.madeAt)) return true;
  return (await compareStatusCounts(db, { ...revision, platform: undefined }, { cut: toCut(mailed) })).length > 0;
}

/** Whether a person has stated another balance of the day since. Resumo shows it; the digest does not cover it. */
export async function hasNewStatement({ db }: Context, then: ReportRow, madeAt: Date): Promise<boolean> {
  const bounds = toWallTimeBounds(then.day, addDays(then.day, 1));
  const before = await readNewestStatements(db, { ...bounds, madeAt: then.made_at });
  const now = await readNewestStatements(db, { ...bounds, madeAt });
  return listChangedStatements(before, now).length > 0;
}

/** Enqueues the mail of each ended day's newest revision, if people made it and it differs from the mailed one. */
export async function enqueueUnreportedMails(context: Context): Promise<void> {
  if (!isReportMailEnabled(context.config)) return;
  const rows = await context.db
    .selectFrom('reports')
    .leftJoin('report_mails', 'report_mails.report_seq', 'reports.seq')
    .select('reports.day')
    .where('reports.made_at', '>=', unmailedFrom(context))
    .where('reports.state', '!=', 'partial')
    .where('report_mails.report_seq', 'is', null)
    .groupBy('reports.day')
    .execute();
  for (const { day } of rows) {
    if (context.signal.aborted) return;
    const newest = await findRevision(context.db, day);
    if (newest && (await isUnreported(context, newest))) await enqueueOnce(context, newest.seq);
  }
}

/** Another process may have enqueued it meanwhile: then this does nothing. */
async function enqueueOnce(context: Context, reportSeq: number): Promise<void> {
  try {
    await transact(context.db, (trx) => enqueueReportMail(trx, reportSeq, context.clock.now()));
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}

async function isUnreported(context: Context, newest: ReportRow): Promise<boolean> {
  const { seq, day, digest, made_at: madeAt } = newest;
  const mailed = await findMailed(context, day);
  return mailed?.seq !== seq && (await hasUnreportedChange(context, { day, digest, madeAt, cut: toCut(newest) }));
}

/** The newest revision of a day that was mailed or enqueued, or is too old to mail. */
async function findMailed(context: Context, day: Day): Promise<ReportRow | undefined> {
  return await selectReports(context.db)
    .leftJoin('report_mails', 'report_mails.report_seq', 'reports.seq')
    .where('reports.day', '=', day)
    .where((eb) =>
      eb.or([eb('report_mails.report_seq', 'is not', null), eb('reports.made_at', '<', unmailedFrom(context))]),
    )
    .orderBy('reports.revision', 'desc')
    .limit(1)
    .executeTakeFirst();
}

function unmailedFrom({ clock, calendar }: Context): Date {
  return calendar.startOfDay(addDays(calendar.dayOf(clock.now()), -UNMAILED_DAYS_MAX));
}
