import { AUTHORIZATION, MASKED } from '../../merchants/request-headers.ts';

/** Attempts of the past are shown with it too: another text needs a mark in the rows of the attempts that it is sent with. */
const USER_AGENT = 'Confere (callbacks; Standard Webhooks)';

/** Returns our headers of an attempt, without the signature. */
export function composeOwnHeaders(webhookId: string, startedAt: Date) {
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'webhook-id': webhookId,
    'webhook-timestamp': String(Math.floor(startedAt.getTime() / 1000)),
  };
}

const HOST = 'host: ';

/**
 * Returns the text that an attempt stores for its headers: a JSON array with the names of the merchant's headers. Ours follow
 * from the row, and would take 190 bytes of each attempt. @param host where it went, if it is stored: as `host: <host>`.
 */
export function storeHeaders(merchantNames: string[], host?: string): string {
  return JSON.stringify(host === undefined ? merchantNames : [...merchantNames, `${HOST}${host}`]);
}

/**
 * Returns the headers of a stored attempt, with the values of the merchant's masked.
 * @param row.request_headers an array of names, or an object with all headers: as 0.1.0 stored it, and `{}` for a callback
 *   that was not sent.
 */
export function readHeaders(row: { request_headers: string; webhook_id: string; started_at: Date }) {
  const stored = JSON.parse(row.request_headers) as string[] | Record<string, string>;
  if (!Array.isArray(stored)) return stored;
  const host = stored.find((name) => name.startsWith(HOST));
  const names = stored.filter((name) => name !== host);
  const masked = names.map((name) => [name, name === AUTHORIZATION ? `Bearer ${MASKED}` : MASKED] as const);
  return {
    ...(host === undefined ? {} : { host: host.slice(HOST.length) }),
    ...composeOwnHeaders(row.webhook_id, row.started_at),
    ...Object.fromEntries(masked),
  };
}
