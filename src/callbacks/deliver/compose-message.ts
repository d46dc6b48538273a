import type { KeyObject } from 'node:crypto';
import type { Credentials } from '../../merchants/secrets.ts';
import { TEST_SOURCE } from '../health/callback-sources.ts';
import type { ClaimedCallback } from '../queue/claimed-callback.ts';
import { toProviderBody } from '../render/provider-body.ts';
import { sign } from '../render/sign.ts';
import { composeOwnHeaders } from './attempt-headers.ts';
import type { ErrorClass } from './decide-outcome.ts';

/**
 * A callback's rows in the database: its body, undefined if the ledger lacks its event, and how its merchant is reached, undefined
 * if it is removed.
 */
export type Prepared = { body: object | undefined; to: Credentials | undefined };

export type Message = {
  callback: ClaimedCallback;
  url: string;
  /** Where it goes, if not to the merchant's URL: its answer says nothing of that one. */
  elsewhere?: 'test' | 'before' | undefined;
  keys: KeyObject[];
  /** The merchant's own. */
  headers: Record<string, string>;
} & ({ body: string } | { body?: undefined; problem: ErrorClass });

/**
 * Composes a message in its merchant's format. @param write serializes a body of ours, which merchants share.
 * @returns undefined if the merchant has no address any more.
 */
export function composeMessage(
  callback: ClaimedCallback,
  { body, to }: Prepared,
  write: (body: object) => string = JSON.stringify,
): Message | undefined {
  if (!to || to.url === null) return undefined;
  const { url, format, keys, headers, elsewhere } = chooseAddress(callback, { ...to, url: to.url });
  const shared = { callback, url, keys, headers, elsewhere };
  if (!body || keys.length === 0) return { ...shared, problem: 'not_renderable' };
  if (format !== 'provider') return { ...shared, body: write(body) };
  const flat = toProviderBody(body, callback.webhookId);
  return flat ? { ...shared, body: JSON.stringify(flat) } : { ...shared, problem: 'no_provider_body' };
}

/** Tests go to the test address, with its secret alone; a message that failed before a change of URL to the one before. */
function chooseAddress(
  { source, firstFailedAt }: ClaimedCallback,
  to: Credentials & { url: string },
): Pick<Credentials, 'format' | 'keys' | 'headers'> & Pick<Message, 'url' | 'elsewhere'> {
  const { test, before } = to;
  if (source === TEST_SOURCE && test) return { ...to, url: test.url, keys: test.keys, headers: {}, elsewhere: 'test' };
  if (before && firstFailedAt && firstFailedAt < before.until) return { ...to, url: before.url, elsewhere: 'before' };
  return to;
}

/** Returns the headers of an attempt. */
export function composeHeaders(
  { callback, body = '', keys, headers }: Message,
  startedAt: Date,
): Record<string, string> {
  const ours = composeOwnHeaders(callback.webhookId, startedAt);
  const timestamp = Number(ours['webhook-timestamp']);
  const signature = sign(keys, { id: callback.webhookId, timestamp, body });
  // ours last: they are what the merchant verifies
  return { ...headers, ...ours, 'webhook-signature': signature };
}
