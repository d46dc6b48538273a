import type { AlertToSend, AlertWriter, Channel } from './channel.ts';
import { postJson } from './post-json.ts';

const BATCH_MAX = 500;
/** Alertmanager forgets alerts that are not sent again within five minutes. */
const RESEND_EVERY_MS = 60_000;
/** How long a momentary alert is shown as firing: Alertmanager drops alerts that have ended already. */
const MOMENT_MS = 5 * 60_000;
/** An ended alert goes on muting the rule of its name, which knows the end a scrape and an evaluation later. */
const RULE_LAG_MS = 45_000;

/** Alertmanager's API (v2): firing alerts each minute, and ended ones once. */
export function openAlertmanagerChannel(url: string, writer: AlertWriter): Channel {
  const address = `${url.replace(/(?<!\/)\/+$/, '')}/api/v2/alerts`;
  return {
    name: 'alertmanager',
    batchMax: BATCH_MAX,
    resendEveryMs: RESEND_EVERY_MS,
    send: (alerts) =>
      postJson(
        address,
        alerts.map((alert) => describe(alert, writer)),
      ),
  };
}

function describe(alert: AlertToSend, { write }: AlertWriter) {
  const momentary = alert.endedAt?.getTime() === alert.raisedAt.getTime();
  const endsAt = alert.endedAt && new Date(alert.endedAt.getTime() + (momentary ? MOMENT_MS : RULE_LAG_MS));
  const { title, text, todo, url, runbookUrl } = write(alert);
  return {
    // the identity: the same for each resend, however many mismatches the alert counts by then
    labels: {
      ...{ alertname: alert.name, severity: alert.severity, service: 'confere', scope: alert.scope },
      // nobody can act on what ended as it was raised: a route can send it to no one
      ...(momentary ? { pages: 'no' } : {}),
    },
    annotations: {
      summary: `${title}: ${text}`,
      description: todo,
      runbook: runbookUrl,
      ...(alert.transactionId ? { transaction_id: alert.transactionId } : {}),
    },
    startsAt: alert.raisedAt.toISOString(),
    ...(endsAt ? { endsAt: endsAt.toISOString() } : {}),
    generatorURL: url,
  };
}
