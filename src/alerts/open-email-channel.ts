import type { AlertToSend, Channel } from './channel.ts';
import type { Mailer } from './open-mailer.ts';

const BATCH_MAX = 50;
const SEVERITIES = ['critical', 'high', 'medium'];

/** Sends ops one mail for all alerts that are due at once. */
export function openEmailChannel(
  mailer: Mailer,
  options: { to: string[]; publicUrl: string; warn: (refused: number) => void },
): Channel {
  return {
    name: 'email',
    batchMax: BATCH_MAX,
    async send(alerts) {
      const [first] = alerts;
      if (!first) return;
      const { refused } = await mailer.send({
        to: options.to,
        subject: titleOf(alerts),
        text: `${alerts.map((alert) => describe(alert, options.publicUrl)).join('\n\n')}\n`,
        id: `${first.id}.${alerts.length}.${first.alreadySent ? 'over' : 'fires'}`,
      });
      if (refused > 0) options.warn(refused);
    },
  };
}

function titleOf(alerts: AlertToSend[]): string {
  const firing = alerts.filter((alert) => !alert.alreadySent);
  const [first] = alerts;
  if (firing.length === 0)
    return alerts.length === 1 ? `[Confere] over: ${first?.name}` : `[Confere] ${alerts.length} alerts are over`;
  const worst = SEVERITIES.find((severity) => firing.some((alert) => alert.severity === severity)) ?? '';
  return firing.length === 1 ? `[Confere] ${worst}: ${firing[0]?.name}` : `[Confere] ${worst}: ${firing.length} alerts`;
}

function describe(alert: AlertToSend, publicUrl: string): string {
  const lines = [
    `${alert.alreadySent ? 'OVER' : alert.severity.toUpperCase()}  ${alert.name}`,
    alert.summary,
    `since ${alert.raisedAt.toISOString()}${alert.endedAt ? `, until ${alert.endedAt.toISOString()}` : ''}`,
    ...(alert.mismatchId ? [`${publicUrl}/mismatches/${alert.mismatchId}`] : []),
    `docs/runbooks.md#${alert.name}`,
  ];
  return lines.join('\n');
}
