import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { fault, httpUrl, isLoopbackName, listText, secret } from './fields.ts';

export const emailList = listText(
  (part) => (/^[^@\s]+@[^@\s]+$/.test(part) ? part : undefined),
  'must be e-mail addresses',
);

/** `alerts@example.com`, or `Confere <alerts@example.com>`. */
const emailFrom = z.string().transform((text, context): { name: string; address: string } => {
  const match = /^(?:([^<>"\r\n]*)<([^<>]+)>|([^<>]+))$/.exec(text.trim());
  const address = match?.[2] ?? match?.[3] ?? '';
  if (!/^[^@\s,;]+@[^@\s,;]+$/.test(address)) {
    return fault(context, 'must be an address, or Name <address>: Confere <alerts@example.com>');
  }
  return { name: match?.[1]?.trim() ?? '', address };
});

export type SmtpServer = {
  host: string;
  port: number;
  tls: 'at once' | 'starttls' | 'off';
  auth?: { user: string; pass: string };
  ca?: string;
};

/**
 * `smtps://user:pass@host:465` (implicit TLS) or `smtp://host:587` (STARTTLS required). Certificates are verified; `?ca=FILE`
 * names an own authority. Plain text only to loopback, or with `?tls=off`. The text is never quoted: it holds a password.
 */
const smtpUrl = z.string().transform((text, context): SmtpServer => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url?.hostname || !['smtp:', 'smtps:'].includes(url.protocol)) {
    return fault(context, 'must be smtp://user:password@host:587 or smtps://user:password@host:465');
  }
  const off = url.searchParams.get('tls') === 'off' || isLoopbackName(url.hostname);
  const tls = url.protocol === 'smtps:' ? 'at once' : off ? 'off' : 'starttls';
  const port = Number(url.port) || (tls === 'at once' ? SMTPS_PORT : SMTP_PORT);
  try {
    const file = url.searchParams.get('ca');
    return {
      ...{ host: url.hostname.replace(/^\[|\]$/g, ''), port, tls },
      ...(url.username
        ? { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }
        : {}),
      ...(file ? { ca: readFileSync(file, 'utf8') } : {}),
    };
  } catch {
    return fault(context, 'names a ca file that can’t be read, or a user or password that is not percent-encoded');
  }
});

const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

/** A routing key; with the address of another region: `https://KEY@events.eu.pagerduty.com/v2/enqueue`. */
const pagerDutyKey = z.string().transform((text, context): { url: string; key: string } => {
  if (/^[A-Za-z0-9_-]{1,100}$/.test(text)) return { url: PAGERDUTY_URL, key: text };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url?.username || url.password || !['http:', 'https:'].includes(url.protocol))
    return fault(context, 'must be a routing key, or https://KEY@events.eu.pagerduty.com/v2/enqueue');
  const key = url.username;
  url.username = '';
  return { url: url.href, key };
});

const SMTP_PORT = 587;
const SMTPS_PORT = 465;

/** Variables of the channels of alerts: each one that is set adds a channel. */
export const channelFields = {
  ALERTMANAGER_URL: httpUrl.optional(),
  SLACK_WEBHOOK_URL: secret(httpUrl).optional(),
  PAGERDUTY_ROUTING_KEY: secret(pagerDutyKey).optional(),
  SMTP_URL: secret(smtpUrl).optional(),
  ALERT_EMAIL_FROM: emailFrom.optional(),
};
