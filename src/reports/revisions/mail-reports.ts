/**
 * Mails a link to each revision that the schedule made, except those with only a new state or proof, and to revisions that
 * people made before (enqueue-unreported-mails.ts). A pending mail is a row, inserted with the revision or by the next tick:
 * a crash loses none. The row is claimed before the mail is sent, so only a crash between the server's acceptance and our
 * update sends a mail twice, with the same Message-ID. A mail holds no data of the day: reading it needs a login.
 */
import type { Transaction } from 'kysely';
import { MAIL_MS_MAX, MailError, type Mailer, openMailer } from '../../alerts/channels/open-mailer.ts';
import type { Config } from '../../config.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { createWakeSignal, runWorkerLoop } from '../../runtime/wake-signal.ts';
import type { Locale } from '../plan/report-plan.ts';
import { formatSeal } from '../render/write-about.ts';
import { fill, formatDay, textsOf } from '../texts/texts.ts';
import { nameRevision, presentReport, type Report, selectReports } from './present-report.ts';

const IDLE_MS = 5_000;
/** No other process sends a mail that may still be in transit. */
const CLAIM_MS = 2 * MAIL_MS_MAX;
/** Waits after each failure. After the last one the mail is dropped; the console has the report. */
const RETRY_MS = [1, 5, 30, 120, 360, 720, 720, 1440, 1440].map((minutes) => minutes * 60_000);

/** Whether a mail server and an address are configured. */
export function isReportMailEnabled(config: Config): boolean {
  return config.SMTP_URL !== undefined && (config.ALERT_EMAIL_TO?.length ?? 0) > 0;
}

/** Enqueues the mail of a revision. */
export async function enqueueReportMail(trx: Transaction<Database>, reportSeq: number, now: Date): Promise<void> {
  await trx
    .insertInto('report_mails')
    .values({ report_seq: reportSeq, created_at: now, next_attempt_at: now })
    .execute();
}

/** Sends pending mails until the signal. Any number of processes may run it. */
export async function mailReports(context: Context): Promise<void> {
  const mailer = openMailer(context.config);
  if (!mailer || !isReportMailEnabled(context.config)) return;
  await runWorkerLoop({
    name: 'report mails',
    wakeUp: createWakeSignal(context.timers),
    idleMs: IDLE_MS,
    context,
    work: () => mailNext(context, mailer),
  });
}

/** @returns false if no mail was due. */
async function mailNext(context: Context, mailer: Mailer): Promise<boolean> {
  const claimed = await claimNext(context);
  if (!claimed) return false;
  const { row, attempts } = claimed;
  const about = { day: row.day, revision: row.revision, attempts };
  try {
    const mail = writeMail(presentReport(row), row.locale as Locale, context.config.PUBLIC_URL);
    const { refused } = await mailer.send({ to: context.config.ALERT_EMAIL_TO ?? [], ...mail });
    if (refused > 0) context.log.warn({ ...about, refused }, 'report mail refused for some addresses');
    await recordAttempt(context, row.seq, { sent_at: context.clock.now(), next_attempt_at: null, error: null });
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const wait = error.isPermanent ? undefined : RETRY_MS[attempts - 1];
    const next = wait === undefined ? null : new Date(context.clock.now().getTime() + wait);
    await recordAttempt(context, row.seq, { next_attempt_at: next, error: error.code });
    context.log.error({ ...about, error: error.code, next_attempt_at: next }, 'report mail failed');
  }
  return true;
}

async function claimNext(context: Context) {
  return await transact(context.db, async (trx) => {
    const now = context.clock.now();
    const due = await trx
      .selectFrom('report_mails')
      .select(['report_seq', 'attempts'])
      .where('next_attempt_at', '<=', now)
      .orderBy('next_attempt_at')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!due) return undefined;
    const attempts = due.attempts + 1;
    await trx
      .updateTable('report_mails')
      .set({ attempts, next_attempt_at: new Date(now.getTime() + CLAIM_MS) })
      .where('report_seq', '=', due.report_seq)
      .execute();
    const row = await selectReports(trx).where('reports.seq', '=', due.report_seq).executeTakeFirstOrThrow();
    return { row, attempts };
  });
}

async function recordAttempt(
  context: Context,
  reportSeq: number,
  end: { sent_at?: Date; next_attempt_at: Date | null; error: string | null },
): Promise<void> {
  await context.db.updateTable('report_mails').set(end).where('report_seq', '=', reportSeq).execute();
}

/** The mail holds day, revision, state, digests and the chain's head, which thereby leaves this machine, and no rows. Pure. */
function writeMail(report: Report, locale: Locale, publicUrl: string): { subject: string; text: string; id: string } {
  const texts = textsOf(locale);
  const values = { day: formatDay(report.day), revision: report.revision, state: texts.states[report.state] };
  const chain = formatSeal(report.position, report.chain_hash);
  const lines = [
    fill(texts.mail.intro, values),
    report.proven ? texts.mail.proven : texts.mail.notProven,
    ...(report.revision > 1 ? [texts.mail.changed] : []),
    '',
    `${texts.mail.download}: ${publicUrl.replace(/(?<!\/)\/+$/, '')}/reports/${nameRevision(report)}.xlsx`,
    '',
    `SHA-256: ${report.sha256}`,
    `${texts.mail.digest}: ${report.digest}`,
    ...(chain === undefined ? [] : [`${texts.summary.chain}: ${chain}`]),
    '',
    texts.mail.outro,
  ];
  return {
    subject: fill(texts.mail.subject, values),
    text: `${lines.join('\n')}\n`,
    id: `report-${nameRevision(report)}`,
  };
}
