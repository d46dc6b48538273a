import { CronTime } from 'cron';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { parseDatabaseUrl } from '../../embedded/parse-database-url.ts';
import { createCalendar } from '../domain/calendar.ts';
import { OPERATIONS, STATUSES } from '../domain/statuses.ts';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const UNIT_BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;
const DURATION_MS_MAX = 100 * 365 * 86_400_000;
/** Prefix length of IPv4-mapped IPv6 addresses (::ffff:203.0.113.7). */
const MAPPED_PREFIX_BITS = 96;

/** Marks a field whose value no output may hold. */
export const secret = <Field extends z.ZodType>(field: Field): Field => field.meta({ secret: true });

/** `10s`, `5m`, `24h`, `7d` → milliseconds. */
export const durationText = z.string().transform((text, context): number => {
  const ms = parseDuration(text);
  if (ms === undefined) return fault(context, 'must be a duration: 10s, 5m, 24h or 7d');
  return ms;
});

/** Parts with commas between them. @param parse returns undefined for a wrong one. */
export function listText<Part>(parse: (part: string) => Part | undefined, message: string) {
  return z.string().transform((text, context): Part[] => {
    const parts = text.split(',').map((part) => parse(part.trim()));
    return parts.every((part) => part !== undefined) ? parts : fault(context, message);
  });
}

/** `5s,5m,30m` → milliseconds each. */
export const durationList = listText(parseDuration, 'must be durations with commas: 5s,5m,30m');

/** `1GiB`, `500MiB` → bytes. */
export const sizeText = z.string().transform((text, context): number => {
  const match = /^(\d{1,9})(B|KiB|MiB|GiB)$/.exec(text);
  if (!match) return fault(context, 'must be a size: 500MiB or 1GiB');
  return Number(match[1]) * UNIT_BYTES[match[2] as keyof typeof UNIT_BYTES];
});

/** `60/m` → requests a minute; `off`. */
export const rateText = z.string().transform((text, context): number | 'off' => {
  if (text === 'off') return 'off';
  const match = /^([1-9]\d{0,6})\/m$/.exec(text);
  return match ? Number(match[1]) : fault(context, 'must be off, or requests a minute: 60/m');
});

/** Checks the form here, so that a fault is listed with all others. The text is never quoted: it holds a password. */
export const databaseUrl = z.string().transform((text, context): string => {
  try {
    parseDatabaseUrl(text);
    return text;
  } catch (error) {
    return fault(context, error instanceof URIError ? NOT_ENCODED : (error as Error).message);
  }
});
const NOT_ENCODED = 'holds a user or password that is not percent-encoded';

/** A host name, or an IPv4 or IPv6 address, without a port. */
export const hostText = z.string().regex(/^[A-Za-z0-9._:%-]+$/, 'must be a host name or an address, without a port');

export function intText(min: number, max: number) {
  return z.string().transform((text, context): number => {
    const value = Number(text);
    const fits = /^\d{1,9}$/.test(text) && value >= min && value <= max;
    return fits ? value : fault(context, `must be a whole number from ${min} to ${max}`);
  });
}

/** `0.25` → a number from 0 to 1. */
export const ratioText = z.string().transform((text, context): number => {
  const value = /^\d(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  return value >= 0 && value <= 1 ? value : fault(context, 'must be a number from 0 to 1: 0.25');
});

export const booleanText = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

export const httpUrl = z.string().refine(isHttpUrl, 'must be an http or https address without user or password');

export const instantText = z.iso
  .datetime({ offset: true, error: 'must be an instant of ISO 8601 with an offset: 2026-11-21T08:00:00-03:00' })
  .transform((text) => new Date(text));

export const timeZone = z.string().refine((zone) => {
  try {
    createCalendar(zone);
    return true;
  } catch {
    return false;
  }
}, 'must be a time zone of the IANA list, such as America/Sao_Paulo');

export const cronText = z.string().refine((text) => {
  if (text === 'off') return true;
  try {
    new CronTime(text);
    return true;
  } catch {
    return false;
  }
}, 'must be a cron expression, or off');

const SCHEMES = ['none', 'bearer', 'path', 'basic', 'hmac', 'standard'] as const;

export const webhookAuth = listText(
  (part) => SCHEMES.find((one) => one === part),
  `must be a list of ${SCHEMES.join(', ')}`,
);

export type WebhookHmac = { digest: 'sha1' | 'sha256' | 'sha512'; encoding: 'hex' | 'base64' };

export const webhookHmac = z.string().transform((text, context): WebhookHmac => {
  const match = /^(sha1|sha256|sha512):(hex|base64)$/.exec(text);
  if (!match) return fault(context, 'must be sha1, sha256 or sha512, a colon, hex or base64: sha256:hex');
  return { digest: match[1] as WebhookHmac['digest'], encoding: match[2] as WebhookHmac['encoding'] };
});

/** `cashin.paid,cashout.denied` */
const CHANGES = new Set(OPERATIONS.flatMap((operation) => STATUSES.map((status) => `${operation}.${status}`)));

export const expectedChanges = listText(
  (part) => (CHANGES.has(part) ? part : undefined),
  'must be a list of operation and status, such as cashin.paid,cashout.denied',
);

export const cidrList = listText(
  (part) => (isCidr(part) ? unmap(part) : undefined),
  'must be a list of CIDR blocks: 203.0.113.0/24,2001:db8::/32',
);

const HOPS_MAX = 10;
/** Prefixes of the largest private networks: 10.0.0.0/8, fc00::/7. */
const PROXY_PREFIX_MIN = { v4: 8, v6: 7 };

/** A hop count or a CIDR list. `true` and very large blocks are refused: they would trust headers of any client. */
export const trustProxy = z.string().transform((text, context): number | string[] => {
  if (/^\d{1,2}$/.test(text)) {
    return Number(text) <= HOPS_MAX ? Number(text) : fault(context, `must be at most ${HOPS_MAX} hops`);
  }
  const parts = text.split(',').map((part) => part.trim());
  if (!parts.every(isCidr)) return fault(context, 'must be a hop count or a list of CIDR blocks (true is refused)');
  if (parts.some(isTooWide)) return fault(context, 'holds a block of too many addresses: name your proxies');
  return parts;
});

export const secretKey = z.string().transform((text, context): Buffer => {
  const key = Buffer.from(text, 'base64');
  const exact = key.length === 32 && key.toString('base64') === text;
  return exact ? key : fault(context, 'must be base64 of 32 bytes (openssl rand -base64 32)');
});

/** Whether a host is `localhost`, `::1` or in 127.0.0.0/8. `127.example.com` is an ordinary name. */
export function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Whether a URL sends plain text over a network, which requires ALLOW_PLAIN_HTTP. */
export function isPlainHttp(address: string): boolean {
  const url = new URL(address);
  return url.protocol === 'http:' && !isLoopbackName(url.hostname);
}

function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  if (!match) return undefined;
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  return ms <= DURATION_MS_MAX ? ms : undefined;
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
}

function isCidr(text: string): boolean {
  return ipaddr.isValidCIDR(text) || ipaddr.isValid(text);
}

/** Whether a block is larger than any private network, also as IPv4-mapped IPv6: it can't list proxies only. */
function isTooWide(text: string): boolean {
  if (!text.includes('/')) return false;
  const [range, bits] = ipaddr.parseCIDR(text);
  if (range instanceof ipaddr.IPv4) return bits < PROXY_PREFIX_MIN.v4;
  return bits < (range.isIPv4MappedAddress() ? MAPPED_PREFIX_BITS + PROXY_PREFIX_MIN.v4 : PROXY_PREFIX_MIN.v6);
}

/** Converts an IPv4-mapped block to IPv4, as peers have plain IPv4 addresses. @returns undefined if it is larger than IPv4. */
function unmap(text: string): string | undefined {
  if (!text.includes('/')) return text;
  const [range, bits] = ipaddr.parseCIDR(text);
  if (!(range instanceof ipaddr.IPv6) || !range.isIPv4MappedAddress()) return text;
  return bits < MAPPED_PREFIX_BITS ? undefined : `${range.toIPv4Address().toString()}/${bits - MAPPED_PREFIX_BITS}`;
}

export function fault(context: { issues: unknown[]; value: unknown }, message: string): never {
  context.issues.push({ code: 'custom', message, input: context.value });
  return z.NEVER;
}
