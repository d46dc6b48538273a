import type { AlertToSend, Channel } from './channel.ts';
import { postJson } from './post-json.ts';

const SUMMARY_CHARS_MAX = 1_024;
const SEVERITY: Record<string, string> = { critical: 'critical', high: 'error', medium: 'warning' };

/** PagerDuty's Events API v2: an alert triggers under its own id, and its end resolves it. One event a request. */
export function openPagerDutyChannel(options: { url: string; routingKey: string; publicUrl: string }): Channel {
  const post = (action: 'trigger' | 'resolve', alert: AlertToSend): Promise<void> =>
    postJson(options.url, {
      routing_key: options.routingKey,
      event_action: action,
      dedup_key: alert.id,
      ...(action === 'trigger' ? describe(alert, options.publicUrl) : {}),
    });
  return {
    name: 'pagerduty',
    batchMax: 1,
    async send(alerts) {
      for (const alert of alerts) {
        // an alert that ended before it was sent is triggered anyway
        if (!alert.alreadySent) await post('trigger', alert);
        if (alert.endedAt) await post('resolve', alert);
      }
    },
  };
}

function describe(alert: AlertToSend, publicUrl: string) {
  const href = alert.mismatchId ? `${publicUrl}/mismatches/${alert.mismatchId}` : publicUrl;
  return {
    payload: {
      summary: `${alert.name}: ${alert.summary}`.slice(0, SUMMARY_CHARS_MAX),
      source: publicUrl,
      severity: SEVERITY[alert.severity] ?? 'error',
      timestamp: alert.raisedAt.toISOString(),
      component: 'confere',
      class: alert.name,
      custom_details: {
        scope: alert.scope,
        runbook: `docs/runbooks.md#${alert.name}`,
        ...(alert.transactionId ? { transaction_id: alert.transactionId } : {}),
      },
    },
    links: [{ href, text: 'Confere' }],
  };
}
