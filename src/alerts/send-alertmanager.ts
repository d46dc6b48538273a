import { type Dispatcher, request } from 'undici';

const TIMEOUT_MS = 10_000;
/** A momentary alert is shown as firing for so long, or Alertmanager would drop it unseen. */
const MOMENT_MS = 5 * 60_000;

export type AlertToSend = {
  name: string;
  severity: string;
  scope: string;
  summary: string;
  mismatchId: string | null;
  transactionId: string | null;
  raisedAt: Date;
  endedAt: Date | null;
};

/**
 * Posts alerts to Alertmanager's API (v2), firing and ended ones. It forgets what is not sent again within five
 * minutes, so firing ones come here every minute.
 * @throws Error when it does not take them.
 */
export async function sendToAlertmanager(
  url: string,
  publicUrl: string,
  alerts: AlertToSend[],
  dispatcher?: Dispatcher,
): Promise<void> {
  const response = await request(`${url.replace(/\/+$/, '')}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(alerts.map((alert) => describe(alert, publicUrl))),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(dispatcher ? { dispatcher } : {}),
  });
  await response.body.dump();
  if (response.statusCode >= 300) throw new Error(`Alertmanager answered ${response.statusCode}`);
}

function describe(alert: AlertToSend, publicUrl: string) {
  const momentary = alert.endedAt?.getTime() === alert.raisedAt.getTime();
  const endsAt = momentary ? new Date(alert.raisedAt.getTime() + MOMENT_MS) : alert.endedAt;
  return {
    labels: {
      alertname: alert.name,
      severity: alert.severity,
      service: 'confere',
      scope: alert.scope,
      ...(alert.transactionId ? { transaction_id: alert.transactionId } : {}),
    },
    annotations: { summary: alert.summary, runbook: `docs/runbooks.md#${alert.name}` },
    startsAt: alert.raisedAt.toISOString(),
    ...(endsAt ? { endsAt: endsAt.toISOString() } : {}),
    generatorURL: alert.mismatchId ? `${publicUrl}/mismatches/${alert.mismatchId}` : publicUrl,
  };
}
