import { fail } from 'node:assert';
import { API_OPERATIONS } from '../../src/http/openapi/operations.ts';

const CONFLICT = 409;

/** An answer of our API. `json`: {} where it is something else. */
export type ApiAnswer<T> = { status: number; type: string; retryAfter: string | null; text: string; json: T };

/**
 * Calls our API. `T` is what the caller reads of the answer.
 * @param at `url`: up to the address. @param body an object is sent as JSON, anything else as it is.
 */
export async function callApi<T = Record<string, unknown>>(
  at: { url: string; token: string },
  method: string,
  address: string,
  body?: unknown,
): Promise<ApiAnswer<T>> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(`${at.url}${address}`, {
    method,
    headers: { authorization: `Bearer ${at.token}`, ...(isRaw ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const json = (type.includes('json') ? JSON.parse(text) : {}) as T & { reason?: string };
  if (response.status === CONFLICT && !isDeclared(method, response.url, json.reason))
    fail(`${method} ${address} refuses by ${json.reason}, which its operation does not declare`);
  return { status: response.status, type, retryAfter: response.headers.get('retry-after'), text, json };
}

/** Whether the document names the reason of a conflict; those of the idempotency key it has once for all. */
function isDeclared(method: string, url: string, reason = ''): boolean {
  const path = new URL(url).pathname.split('/');
  const operation = API_OPERATIONS.find(
    (one) =>
      one.method === method.toLowerCase() &&
      one.path.split('/').length === path.length &&
      one.path.split('/').every((part, index) => part.startsWith('{') || part === path[index]),
  );
  return (
    reason.startsWith('idempot') || (operation?.refuses as readonly string[] | undefined)?.includes(reason) === true
  );
}
