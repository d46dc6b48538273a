/**
 * Mails a link to each revision that the schedule made, except those with only a new state or proof, and to revisions that
 * people made before (enqueue-unreported-mails.ts). A pending mail is a row, inserted with the revision or by the next tick:
 * a crash loses none. One that fails for good is dropped: the console has the report. A mail holds no data of the day:
 * reading it needs a login.
 */
import type { Transaction } from 'kysely';
import { sendPendingMails } from '../../alerts/channels/send-pending-mails.ts';
import type { Config } from '../../config.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import type { Language } from '../../domain/language/language.ts';
import { fill } from '../../texts/fill.ts';
import { formatDay, textsOf } from '../../texts/reports/texts.ts';
import { formatSeal } from '../render/write-about.ts';
import { nameRevision, presentReport, type Report, selectReports } from './present-report.ts';

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

/** Sends the pending mails of reports until the signal. */
export async function mailReports(context: Context): Promise<void> {
  const { db, config } = context;
  if (!isReportMailEnabled(config)) return;
  await sendPendingMails(context, {
    name: 'report mails',
    findDue: (now) =>
      db
        .selectFrom('report_mails')
        .select(['report_seq', 'created_at', 'next_attempt_at'])
        .where('next_attempt_at', '<=', now)
        .orderBy('next_attempt_at')
        .limit(1)
        .executeTakeFirst(),
    async update(mail, change) {
      const { numUpdatedRows } = await db
        .updateTable('report_mails')
        .set(change)
        .where('report_seq', '=', mail.report_seq)
        .where('next_attempt_at', '=', mail.next_attempt_at)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async write({ report_seq: seq }) {
      const row = await selectReports(db).where('reports.seq', '=', seq).executeTakeFirstOrThrow();
      const mail = writeMail(presentReport(row), row.locale as Language, config.PUBLIC_URL);
      const about = { day: row.day, revision: row.revision };
      return { mail: { to: config.ALERT_EMAIL_TO ?? [], ...mail }, about };
    },
  });
}

/** The mail holds day, revision, state, digests and the chain's head, which thereby leaves this machine, and no rows. Pure. */
function writeMail(report: Report, locale: Language, publicUrl: string): { subject: string; text: string; id: string } {
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
