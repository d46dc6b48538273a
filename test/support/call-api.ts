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
  const json = (type.includes('json') ? JSON.parse(text) : {}) as T;
  return { status: response.status, type, retryAfter: response.headers.get('retry-after'), text, json };
}
