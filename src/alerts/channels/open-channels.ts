import type { Context } from '../../context.ts';
import { ALERT_WORDS, describeAlert } from '../../texts/alerts/describe-alert.ts';
import type { AlertWriter, Channel } from './channel.ts';
import { openAlertmanagerChannel } from './open-alertmanager-channel.ts';
import { openEmailChannel } from './open-email-channel.ts';
import { openLogChannel } from './open-log-channel.ts';
import type { Mailer } from './open-mailer.ts';
import { openMerchantEmailChannel } from './open-merchant-email-channel.ts';
import { openPagerDutyChannel } from './open-pagerduty-channel.ts';
import { openSlackChannel } from './open-slack-channel.ts';

/** @returns the channels that the environment configures; the log is always one. */
export function openChannels(context: Context, mailer: Mailer | undefined): Channel[] {
  const { config, db, log } = context;
  const { ALERTMANAGER_URL, SLACK_WEBHOOK_URL, PAGERDUTY_ROUTING_KEY, ALERT_EMAIL_TO } = config;
  const writer = createWriter(context);
  const channels = [openLogChannel(log)];
  if (ALERTMANAGER_URL) channels.push(openAlertmanagerChannel(ALERTMANAGER_URL, writer));
  if (SLACK_WEBHOOK_URL) channels.push(openSlackChannel(SLACK_WEBHOOK_URL, writer));
  if (PAGERDUTY_ROUTING_KEY) {
    channels.push(openPagerDutyChannel({ ...PAGERDUTY_ROUTING_KEY, writer }));
  }
  if (!mailer) return channels;
  if (ALERT_EMAIL_TO) {
    const warnOfRefused = (refused: number) => log.warn({ refused }, 'the mail server refused some of ALERT_EMAIL_TO');
    channels.push(openEmailChannel(mailer, { to: ALERT_EMAIL_TO, writer, warn: warnOfRefused }));
  }
  const warn = (merchant: string) => log.warn({ merchant }, 'the mail server refuses this merchant’s address');
  channels.push(openMerchantEmailChannel(mailer, { db, publicUrl: writer.publicUrl, warn }));
  return channels;
}

/** Writes alerts in REPORT_LOCALE, with addresses of the console and the runbooks. */
function createWriter({ config, calendar }: Context): AlertWriter {
  const { REPORT_LOCALE: locale, PUBLIC_URL: publicUrl } = config;
  return {
    publicUrl,
    words: ALERT_WORDS[locale],
    write(alert) {
      const written = describeAlert(calendar, locale, alert);
      return { ...written, url: `${publicUrl}${written.path}`, runbookUrl: `${publicUrl}${written.runbookPath}` };
    },
  };
}
