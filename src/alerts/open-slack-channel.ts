import type { AlertToSend, Channel } from './channel.ts';
import { postJson } from './post-json.ts';

/** One message tells of so many: Slack takes one a second, and a wall of them is read by nobody. */
const BATCH_MAX = 20;
const MARK: Record<string, string> = { critical: ':red_circle:', high: ':large_orange_circle:' };

/** An incoming webhook of Slack. Its address is a secret. */
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

/** The three characters that mean something to Slack, mentions of everybody among them. */
function escapeMarks(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
