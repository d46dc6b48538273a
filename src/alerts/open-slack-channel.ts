import type { AlertToSend, Channel } from './channel.ts';
import { postJson } from './post-json.ts';

/** Alerts in one message: Slack accepts one message a second. */
const BATCH_MAX = 20;
const MARK: Record<string, string> = { critical: ':red_circle:', high: ':large_orange_circle:' };

/** Slack's incoming webhook. Its URL is a secret. */
export function openSlackChannel(url: string, publicUrl: string): Channel {
  return {
    name: 'slack',
    batchMax: BATCH_MAX,
    send: (alerts) => postJson(url, { text: alerts.map((alert) => describe(alert, publicUrl)).join('\n') }),
  };
}

function describe(alert: AlertToSend, publicUrl: string): string {
  const mark = alert.alreadySent ? ':white_check_mark: over:' : (MARK[alert.severity] ?? ':large_yellow_circle:');
  const link = alert.mismatchId ? ` <${publicUrl}/mismatches/${alert.mismatchId}|open>` : '';
  return `${mark} *${escapeMarks(alert.name)}* (${alert.severity}) ${escapeMarks(alert.summary)}${link}`;
}

/** Escapes Slack's three control characters, which also start mentions. */
function escapeMarks(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
