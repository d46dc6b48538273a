import { type Dispatcher, request } from 'undici';
import { parseRetryAfter } from '../../domain/retry-after.ts';
import { ChannelError } from './channel.ts';

const TIMEOUT_MS = 10_000;
const REFUSALS_EXCEPT = new Set([401, 403, 404, 408, 425, 429]);

/**
 * POSTs to a channel; redirects are not followed.
 * @throws ChannelError for anything but a 2xx.
 */
export async function postJson(url: string, body: unknown): Promise<void> {
  let response: Dispatcher.ResponseData;
  try {
    response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body.dump();
  } catch (error) {
    const { code, name } = error as { code?: unknown; name: string };
    throw new ChannelError(typeof code === 'string' ? code : name);
  }
  const { statusCode: status, headers } = response;
  if (status >= 200 && status < 300) return;
  const header = headers['retry-after'];
  throw new ChannelError(`HTTP ${status}`, {
    isRefusal: status >= 400 && status < 500 && !REFUSALS_EXCEPT.has(status),
    retryAfterMs: parseRetryAfter(Array.isArray(header) ? header[0] : header, new Date()),
  });
}
