import { escapeMarkup } from '../../domain/language/escape-markup.ts';
import type { AlertToSend, AlertWriter, Channel } from './channel.ts';
import { postJson } from './post-json.ts';

/** Alerts in one message: Slack accepts one message a second. */
const BATCH_MAX = 20;
const MARK = new Map<string, string>([
  ['critical', ':red_circle:'],
  ['high', ':large_orange_circle:'],
]);

/** Slack's incoming webhook. Its URL is a secret. */
export function openSlackChannel(url: string, writer: AlertWriter): Channel {
  return {
    name: 'slack',
    batchMax: BATCH_MAX,
    accepts: ({ ended }) => !ended,
    send: (alerts) => postJson(url, { text: alerts.map((alert) => describe(alert, writer)).join('\n') }),
  };
}

function describe(alert: AlertToSend, { words, write }: AlertWriter): string {
  const { title, text, todo, severity, since, url, runbookUrl } = write(alert);
  const mark = alert.alreadySent
    ? `:white_check_mark: ${words.over}:`
    : (MARK.get(alert.severity) ?? ':large_yellow_circle:');
  const next = alert.alreadySent ? '' : `\n${escapeMarkup(todo)} <${runbookUrl}|${words.runbook}>`;
  return `${mark} *${escapeMarkup(title)}* (${alert.name}, ${severity}) ${escapeMarkup(text)}, ${words.since} ${since} <${url}|${words.open}>${next}`;
}
