import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { fitsScheme } from '../../config/checks.ts';
import type { Config } from '../../config.ts';

/** The parts of a request that are known before its body. */
export type RequestHead = {
  headers: Record<string, string | string[] | undefined>;
  /** The last part of `/webhooks/pix/:token`; undefined on the bare route. */
  pathToken: string | undefined;
  now: Date;
};
export type Credentials = RequestHead & { body: Buffer };

type Scheme = Exclude<Config['WEBHOOK_AUTH'][number], 'none'>;

const BY_HEAD: Partial<Record<Scheme, (given: RequestHead, secret: string) => boolean>> = {
  bearer: ({ headers }, secret) => equalTexts(afterScheme(headers.authorization, 'bearer'), secret),
  path: ({ pathToken }, secret) => equalTexts(pathToken, secret),
  basic: ({ headers }, secret) =>
    equalTexts(afterScheme(headers.authorization, 'basic'), Buffer.from(secret).toString('base64')),
};

const BY_BODY: Partial<Record<Scheme, (given: Credentials, secret: string, config: Config) => boolean>> = {
  hmac: checkHmac,
  standard: checkStandard,
};

/**
 * Checks the credentials in the head of a request. Returns `needs_body` if it has a signature, which can be verified only
 * with the body.
 */
export function checkHead(config: Config, given: RequestHead): 'accepted' | 'refused' | 'needs_body' {
  if (config.WEBHOOK_AUTH.includes('none')) return 'accepted';
  if (fitsAny(config, (scheme, secret) => BY_HEAD[scheme]?.(given, secret) ?? false)) return 'accepted';
  return isSigned(config, given) ? 'needs_body' : 'refused';
}

/** Whether a signature over the body matches a secret. */
export function checkSignature(config: Config, given: Credentials): boolean {
  return fitsAny(config, (scheme, secret) => BY_BODY[scheme]?.(given, secret, config) ?? false);
}

/** Tries each scheme with each secret, also after a match: so the time taken reveals nothing. */
function fitsAny(config: Config, fits: (scheme: Scheme, secret: string) => boolean): boolean {
  let accepted = false;
  for (const scheme of config.WEBHOOK_AUTH) {
    if (scheme === 'none') continue;
    for (const secret of config.WEBHOOK_SECRETS)
      if (fitsScheme(scheme, secret) && fits(scheme, secret)) accepted = true;
  }
  return accepted;
}

function isSigned(config: Config, { headers }: RequestHead): boolean {
  return (
    (config.WEBHOOK_AUTH.includes('hmac') && one(headers[config.WEBHOOK_SIGNATURE_HEADER]) !== undefined) ||
    (config.WEBHOOK_AUTH.includes('standard') && one(headers['webhook-signature']) !== undefined)
  );
}

function checkHmac(given: Credentials, secret: string, config: Config): boolean {
  const { digest, encoding } = config.WEBHOOK_HMAC;
  const header = one(given.headers[config.WEBHOOK_SIGNATURE_HEADER]);
  if (header === undefined) return false;
  const prefix = config.WEBHOOK_SIGNATURE_PREFIX;
  const signature = prefix && header.startsWith(prefix) ? header.slice(prefix.length) : header;
  const parts: (string | Buffer)[] = [given.body];
  if (config.WEBHOOK_TIMESTAMP_HEADER) {
    const timestamp = one(given.headers[config.WEBHOOK_TIMESTAMP_HEADER]);
    if (timestamp === undefined || !isFresh(timestamp, given.now, config.WEBHOOK_TOLERANCE)) return false;
    parts.unshift(`${timestamp}.`);
  }
  return verifyHmac({ digest, encoding }, Buffer.from(secret), parts, signature);
}

/** Whether a signature is the full-length HMAC of the concatenated parts. */
export function verifyHmac(
  { digest, encoding }: Config['WEBHOOK_HMAC'],
  key: Buffer,
  parts: (string | Buffer)[],
  signature: string,
): boolean {
  const hmac = createHmac(digest, key);
  for (const part of parts) hmac.update(part);
  return equalTexts(encoding === 'hex' ? signature.toLowerCase() : signature, hmac.digest(encoding));
}

/** Seconds or milliseconds since 1970, or ISO 8601. */
function isFresh(timestamp: string, now: Date, toleranceMs: number): boolean {
  const number = /^\d{9,13}$/.test(timestamp) ? Number(timestamp) : undefined;
  const at = number === undefined ? Date.parse(timestamp) : number > 1e11 ? number : number * 1000;
  return Math.abs(now.getTime() - at) <= toleranceMs;
}

/**
 * Verifies a Standard Webhooks signature over the raw bytes. A library's `verify` also parses the body and uses its own
 * clock: a genuine body that is no JSON would be rejected as unauthenticated, instead of being quarantined.
 */
function checkStandard({ headers, body, now }: Credentials, secret: string, config: Config): boolean {
  const id = one(headers['webhook-id']);
  const timestamp = one(headers['webhook-timestamp']);
  const signatures = one(headers['webhook-signature']);
  if (!id || !signatures || timestamp === undefined || !/^\d{1,10}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() - Number(timestamp) * 1000) > config.WEBHOOK_TOLERANCE) return false;
  const key = Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64');
  const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return signatures.split(' ').some((signature) => equalTexts(signature, `v1,${wanted}`));
}

const STANDARD_PREFIX = 'whsec_';

function afterScheme(header: string | string[] | undefined, scheme: string): string | undefined {
  const match = /^(\S+) +(.+)$/.exec(one(header) ?? '');
  return match?.[1]?.toLowerCase() === scheme ? match[2]?.trim() : undefined;
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/**
 * Compares in a time that depends neither on where the texts differ nor on their lengths. In hexadecimal, a digest takes a
 * fifth of the time of one that OpenSSL's objects return as a buffer: this runs for each secret of each request.
 */
function equalTexts(given: string | undefined, wanted: string): boolean {
  const digest = (text: string): Buffer => Buffer.from(hash('sha256', text));
  return timingSafeEqual(digest(given ?? ''), digest(wanted)) && given !== undefined;
}
