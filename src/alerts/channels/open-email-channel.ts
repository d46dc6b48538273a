import { SEVERITIES } from '../../domain/mismatch.ts';
import type { AlertToSend, AlertWriter, Channel } from './channel.ts';
import type { Mailer } from './open-mailer.ts';

const BATCH_MAX = 50;

/** Sends ops one mail for all alerts that are due at once. */
export function openEmailChannel(
  mailer: Mailer,
  options: { to: string[]; writer: AlertWriter; warn: (refused: number) => void },
): Channel {
  return {
    name: 'email',
    batchMax: BATCH_MAX,
    accepts: ({ ended }) => !ended,
    async send(alerts) {
      const [first] = alerts;
      if (!first) return;
      const { refused } = await mailer.send({
        to: options.to,
        subject: titleOf(alerts, options.writer),
        text: `${alerts.map((alert) => describe(alert, options.writer)).join('\n\n')}\n`,
        id: `${first.id}.${alerts.length}.${first.alreadySent ? 'over' : 'fires'}`,
      });
      if (refused > 0) options.warn(refused);
    },
  };
}

function titleOf(alerts: AlertToSend[], { words, write }: AlertWriter): string {
  const firing = alerts.filter((alert) => !alert.alreadySent);
  const [first] = firing.length > 0 ? firing : alerts;
  const count = firing.length > 0 ? firing.length : alerts.length;
  const title = first ? write(first).title : '';
  if (firing.length === 0) return `[Confere] ${count === 1 ? `${words.over}: ${title}` : words.areOver(count)}`;
  const worst = SEVERITIES.find((severity) => firing.some((alert) => alert.severity === severity)) ?? '';
  return `[Confere] ${words.severities[worst] ?? worst}: ${count === 1 ? title : words.alerts(count)}`;
}

function describe(alert: AlertToSend, { words, write }: AlertWriter): string {
  const { title, text, todo, severity, since, until, url, runbookUrl } = write(alert);
  const lines = [
    `${(alert.alreadySent ? words.over : severity).toUpperCase()}  ${title} (${alert.name})`,
    text,
    `${words.since} ${since}${until ? `, ${words.until} ${until}` : ''}`,
    ...(alert.alreadySent ? [] : [todo]),
    url,
    runbookUrl,
  ];
  return lines.join('\n');
}
