import type { AlertToSend, AlertWriter, Channel } from './channel.ts';
import { postJson } from './post-json.ts';

const SUMMARY_CHARS_MAX = 1_024;
const SEVERITY = new Map<string, string>([
  ['critical', 'critical'],
  ['high', 'error'],
  ['medium', 'warning'],
]);

/** PagerDuty's Events API v2: what ended as it was raised pages nobody; an alert triggers under its own id, and its end resolves it. One event a request. */
export function openPagerDutyChannel(options: { url: string; key: string; writer: AlertWriter }): Channel {
  const post = (action: 'trigger' | 'resolve', alert: AlertToSend): Promise<void> =>
    postJson(options.url, {
      routing_key: options.key,
      event_action: action,
      dedup_key: alert.id,
      ...(action === 'trigger' ? describe(alert, options.writer) : {}),
    });
  return {
    name: 'pagerduty',
    batchMax: 1,
    accepts: ({ ended }) => !ended,
    async send(alerts) {
      for (const alert of alerts) {
        // an alert that ended before it was sent is triggered anyway
        if (!alert.alreadySent) await post('trigger', alert);
        if (alert.endedAt) await post('resolve', alert);
      }
    },
  };
}

function describe(alert: AlertToSend, { publicUrl, words, write }: AlertWriter) {
  const { title, text, todo, since, url, runbookUrl } = write(alert);
  return {
    payload: {
      summary: `${title}: ${text}`.slice(0, SUMMARY_CHARS_MAX),
      source: publicUrl,
      severity: SEVERITY.get(alert.severity) ?? 'error',
      timestamp: alert.raisedAt.toISOString(),
      component: 'confere',
      class: alert.name,
      custom_details: {
        scope: alert.scope,
        since,
        todo,
        runbook: runbookUrl,
        ...(alert.transactionId ? { transaction_id: alert.transactionId } : {}),
      },
    },
    links: [
      { href: url, text: `Confere: ${words.open}` },
      { href: runbookUrl, text: words.runbook },
    ],
  };
}
