import { Agent, type Dispatcher } from 'undici';
import { parseRetryAfter } from '../../domain/retry-after.ts';
import { SYSTEM_TIMERS, type Timers } from '../../timers.ts';
import type { ClaimedCallback } from '../queue/claimed-callback.ts';
import type { AttemptResult, ErrorClass } from './decide-outcome.ts';
import { createConnector, type ResolveHost } from './guard-connect.ts';
import { keepAnswers, readRawAnswer } from './read-raw-answer.ts';

export const ATTEMPT_MS_MAX = 15_000;
const HEADERS_BYTES_MAX = 16 * 1024;
const BODY_BYTES_KEPT = 4 * 1024;
/** A longer response is not read to its end: the connection is closed instead. */
const BODY_BYTES_MAX = 64 * 1024;
/** How long the body of a response is read, once its status is known. */
const BODY_MS_MAX = 2_000;
const KEEP_ALIVE_MS = 4_000;

/** An attempt that was made and is not recorded yet. */
export type Attempt = {
  callback: ClaimedCallback;
  startedAt: Date;
  /** The names of the merchant's own headers. */
  merchantHeaders: string[];
  response: AttemptResponse;
  /** As `Message.elsewhere`. */
  elsewhere?: 'test' | 'before' | undefined;
  /** Where a test went, or what went elsewhere. */
  host?: string | undefined;
};

/** `isNoHttp`: an answer came and is no HTTP. It counts by its status line, if that can be read: it may have been handled. */
export type AttemptResponse = AttemptResult & { body: Buffer | null; durationMs: number; isNoHttp?: boolean };

/** Sends single attempts. `abort` ends those in flight: their `send` resolves to undefined. */
export type Sender = {
  send(url: string, headers: Record<string, string>, body: string): Promise<AttemptResponse | undefined>;
  abort(): void;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Connections are not limited here: two merchants may share a host, and one that hangs must not starve the other. */
export function openSender(options: { allowPrivate: boolean; resolve?: ResolveHost; timers?: Timers }): Sender {
  const { timers = SYSTEM_TIMERS } = options;
  const agent = new Agent({
    connect: keepAnswers(createConnector(options.allowPrivate, options.resolve)),
    pipelining: 1,
    maxHeaderSize: HEADERS_BYTES_MAX,
    // each attempt has timers of its own for both
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  const inFlight = new Set<AbortController>();
  let isAborted = false;
  return {
    async send(url, headers, body) {
      const controller = new AbortController();
      inFlight.add(controller);
      try {
        const answer = await attempt(agent, { url, headers, body }, controller, timers);
        return isAborted && answer.errorClass === 'timeout' ? undefined : answer;
      } finally {
        inFlight.delete(controller);
      }
    },
    abort() {
      isAborted = true;
      for (const controller of inFlight) controller.abort();
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

async function attempt(
  agent: Agent,
  request: { url: string; headers: Record<string, string>; body: string },
  controller: AbortController,
  timers: Timers,
): Promise<AttemptResponse> {
  const startedMs = timers.monotonicMs();
  const timer = timers.after(ATTEMPT_MS_MAX, () => controller.abort());
  const elapsedMs = (): number => Math.round(timers.monotonicMs() - startedMs);
  try {
    // undici follows no redirects by default
    const response = await agent.request({
      ...splitUrl(request.url),
      method: 'POST',
      headers: request.headers,
      body: request.body,
      signal: controller.signal,
    });
    timer.cancel();
    const body = await readStart(response, timers);
    return { ...readStatus(response, new Date(timers.now())), body, durationMs: elapsedMs() };
  } catch (error) {
    const raw = readRawAnswer(error);
    if (raw) return { ...readRawStatus(raw.status), body: raw.body, durationMs: elapsedMs(), isNoHttp: true };
    const errorClass = classifyError(error);
    return { status: null, errorClass, retryAfterMs: undefined, body: null, durationMs: elapsedMs() };
  } finally {
    timer.cancel();
  }
}

function splitUrl(text: string): { origin: string; path: string } {
  const url = new URL(text);
  return { origin: url.origin, path: `${url.pathname}${url.search}` };
}

function readRawStatus(status: number | null): AttemptResult {
  if (status === null) return { status, errorClass: 'bad_response', retryAfterMs: undefined };
  return readStatus({ statusCode: status, headers: {} }, new Date(0));
}

function readStatus(response: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>, now: Date): AttemptResult {
  const { statusCode: status, headers } = response;
  const header = headers['retry-after'];
  const retryAfterMs = parseRetryAfter(Array.isArray(header) ? header[0] : header, now);
  if (status >= 200 && status < 300) return { status, errorClass: null, retryAfterMs: undefined };
  if (status === 410) return { status, errorClass: 'gone', retryAfterMs: undefined };
  const errorClass = status >= 300 && status < 400 ? 'redirect' : 'http_status';
  return { status, errorClass, retryAfterMs };
}

/** Reads the first bytes of a response. Waits at most BODY_MS_MAX for its end, which lets the connection be reused. */
async function readStart({ body, headers }: Dispatcher.ResponseData, timers: Timers): Promise<Buffer | null> {
  // most responses are empty, and reading them as a stream costs as much as the request
  if (headers['content-length'] === '0') {
    await body.dump();
    return null;
  }
  const kept: Buffer[] = [];
  let bytes = 0;
  const timer = timers.after(BODY_MS_MAX, () => body.destroy());
  body.on('error', () => undefined);
  try {
    for await (const chunk of body) {
      // undici's body has no encoding set, so chunks are Buffers
      const part = chunk as Buffer;
      if (bytes < BODY_BYTES_KEPT) kept.push(part.subarray(0, BODY_BYTES_KEPT - bytes));
      bytes += part.length;
      if (bytes > BODY_BYTES_MAX) break;
    }
  } catch {
    // the status is known: an error in the rest of the body changes nothing
  } finally {
    timer.cancel();
    body.destroy();
  }
  return kept.length > 0 ? Buffer.concat(kept) : null;
}

const CLASS_BY_CODE = new Map<string, ErrorClass>([
  ['FORBIDDEN_ADDRESS', 'forbidden_address'],
  ['UND_ERR_ABORTED', 'timeout'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connect'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'timeout'],
  ['UND_ERR_HEADERS_OVERFLOW', 'headers_too_large'],
  ['HPE_HEADER_OVERFLOW', 'headers_too_large'],
  ['UND_ERR_SOCKET', 'connection_lost'],
  ['ECONNRESET', 'connection_lost'],
  ['EPIPE', 'connection_lost'],
  ['ECONNREFUSED', 'connect'],
  ['EHOSTUNREACH', 'connect'],
  ['ENETUNREACH', 'connect'],
  ['ENETDOWN', 'connect'],
  ['EADDRNOTAVAIL', 'connect'],
  ['ETIMEDOUT', 'connect'],
  ['ENOTFOUND', 'dns'],
  ['EAI_AGAIN', 'dns'],
  ['ENODATA', 'dns'],
  ['EPROTO', 'tls'],
]);
const TLS_CODE = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA)/;
/** How far causes of an error are followed. */
const CAUSES_MAX = 4;

/** Classifies the error of an attempt that got no response. */
function classifyError(error: unknown, depth = 0): ErrorClass {
  if (!(error instanceof Error) || depth > CAUSES_MAX) return 'bad_response';
  // a DOMException's code is a number
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') {
    const known = CLASS_BY_CODE.get(code);
    if (known) return known;
    if (TLS_CODE.test(code)) return 'tls';
    if (code.startsWith('HPE_')) return 'bad_response';
  }
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'timeout';
  // several addresses were tried: the first failure stands for all
  if (error instanceof AggregateError && error.errors.length > 0) return classifyError(error.errors[0], depth + 1);
  return error.cause === undefined ? 'bad_response' : classifyError(error.cause, depth + 1);
}
