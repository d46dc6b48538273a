import { Agent, request } from 'undici';
import { z } from 'zod';
import { parseExactJson } from '../domain/exact-json.ts';
import { parseRetryAfter } from '../domain/retry-after.ts';
import { providerRequestSeconds, providerRequests } from '../metrics/metrics.ts';
import { message } from '../texts/messages.ts';
import { randomBackoffMs, type Timers } from '../timers.ts';
import { inSpan, type SpanWork } from '../tracing/in-span.ts';
import { ProviderError } from './provider-error.ts';
import { IN_PLACE_WAIT_MS_MAX, type Priority, type RequestScheduler } from './schedule-requests.ts';
import type { HealthTracker } from './track-health.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const HEADERS_TIMEOUT_MS = 15_000;
const BODY_TIMEOUT_MS = 15_000;
/** Limit of the whole exchange, however slowly its bytes arrive. */
const EXCHANGE_TIMEOUT_MS = 30_000;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const TRIES_MAX = 6;
const BACKOFF = { firstMs: 500, maxMs: 8_000 };
/** Caps Retry-After: one bad header must not stop us for a day. */
const RETRY_AFTER_MAX_MS = 3_600_000;

export type Transport = {
  baseUrl: string;
  apiKey: string;
  agent: Agent;
  scheduler: RequestScheduler;
  health: HealthTracker;
  signal: AbortSignal;
  timers: Timers;
  /** The database's clock. */
  now: () => Date;
  priority: Priority;
  /** Called for every request that is sent, retries included. */
  onRequest: () => void;
};

/** An answer, parsed and raw. `askedAt`: when its request was sent, after any wait, and anew at each try. */
export type ProviderResponse = { body: unknown; text: string; askedAt: Date };

/** @param patience for tests: time limit of an answer's head, and between two pieces of its body. */
export function createAgent(
  connectionsMax: number,
  patience = { headersMs: HEADERS_TIMEOUT_MS, bodyMs: BODY_TIMEOUT_MS },
): Agent {
  return new Agent({
    connections: connectionsMax,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: patience.headersMs,
    bodyTimeout: patience.bodyMs,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
}

/**
 * Sends a GET and retries it after no answer, 408, 425, 429, 5xx, or an answer that `read` can't parse. Retry-After is
 * honoured; without it the pause grows, with jitter. A pause longer than IN_PLACE_WAIT_MS_MAX is thrown with its length
 * instead of waited for. The pause applies to all requests of this process.
 * @throws ProviderError once a retry can't help.
 */
export async function get<T>(
  transport: Transport,
  path: string,
  read: (answered: ProviderResponse) => T,
  triesMax: number = TRIES_MAX,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await traceExchange(transport, { method: 'GET', path }, read);
    } catch (error) {
      if (!(error instanceof ProviderError) || !isPassing(error) || attempt >= triesMax) throw error;
      if ((error.retryAfterMs ?? 0) > IN_PLACE_WAIT_MS_MAX) throw error;
      await pauseBefore(attempt, error, transport);
    }
  }
}

/** Sends a POST once. Its caller must look up a create without an answer by reference: it may have been stored. */
export async function post(transport: Transport, path: string, json: string): Promise<ProviderResponse> {
  return await traceExchange(transport, { method: 'POST', path, body: json }, (answered) => answered);
}

function isPassing(error: ProviderError): boolean {
  return error.code === 'provider_unavailable' || error.code === 'provider_unreadable';
}

async function pauseBefore(attempt: number, error: ProviderError, transport: Transport): Promise<void> {
  const ms = Math.max(randomBackoffMs(attempt, BACKOFF), error.retryAfterMs ?? 0);
  await transport.timers.sleep(ms, { signal: transport.signal }).catch(() => {
    throw new ProviderError('provider_unavailable', message('provider.stopped_waiting'), { cause: error });
  });
}

type Sent = { method: 'GET' | 'POST'; path: string; body?: string };

/** The path is no attribute: a query may hold a reference. */
async function traceExchange<T>(transport: Transport, sent: Sent, read: (answered: ProviderResponse) => T): Promise<T> {
  const work: SpanWork<T> = (span) =>
    exchange(transport, sent, (answered, status) => {
      span?.setAttribute('http.response.status_code', status);
      return read(answered);
    });
  const attributes = { 'http.request.method': sent.method, 'confere.provider.operation': nameOperation(sent) };
  return await inSpan('provider.request', attributes, work, { kind: 'client', isPart: true });
}

/** @param read reads the answer: one that it can't read counts as a failed request. */
async function exchange<T>(
  transport: Transport,
  sent: Sent,
  read: (answered: ProviderResponse, status: number) => T,
): Promise<T> {
  const { scheduler, timers } = transport;
  const { method } = sent;
  const ticket = await scheduler.acquire(transport.signal, transport.priority).catch((error: unknown) => {
    if (error instanceof ProviderError) throw error;
    throw new ProviderError('provider_unavailable', message('provider.stopped', { method }), { cause: error });
  });
  transport.onRequest();
  // taken after the wait for a slot: the answer shows what happened meanwhile
  const askedAt = transport.now();
  const sentAtMs = timers.monotonicMs();
  const operation = nameOperation(sent);
  const end = providerRequestSeconds.startTimer({ operation });
  let result = 'no_answer';
  let status: number | undefined;
  let retryAfterMs: number | undefined;
  let outcome: 'good' | 'overloaded' | 'other' = 'other';
  try {
    const answer = await send(transport, sent);
    status = answer.status;
    result = nameResult(status);
    outcome = status < 300 ? 'good' : isOverload(status) ? 'overloaded' : 'other';
    if (status >= 300) throw describeFailure(answer);
    return read({ body: parseJson(answer.text, status), text: answer.text, askedAt }, status);
  } catch (error) {
    if (error instanceof ProviderError) {
      if (error.code === 'provider_unreadable') result = 'unreadable';
      ({ retryAfterMs } = error);
      // `Retry-After` applies to all requests: pause before releasing the slot
      if (retryAfterMs !== undefined) scheduler.pause(retryAfterMs);
      throw error;
    }
    // of `read`
    if (status !== undefined) throw error;
    outcome = 'overloaded';
    const said = message('provider.silent', { method, code: codeOf(error) });
    throw new ProviderError('provider_unavailable', said, { cause: error });
  } finally {
    end();
    providerRequests.inc({ operation, outcome: result });
    if (!transport.signal.aborted)
      transport.health.record({
        ...{ operation, status, result, askedAt, retryAfterMs, tookMs: timers.monotonicMs() - sentAtMs },
      });
    scheduler.release(ticket, outcome);
  }
}

function nameOperation({ method, path }: Sent): 'create' | 'list' | 'show' {
  if (method === 'POST') return 'create';
  return path.startsWith('/api/v1/transactions?') ? 'list' : 'show';
}

function nameResult(status: number): string {
  if (status < 300) return 'ok';
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limited';
  if (isOverload(status)) return 'unavailable';
  return status === 401 || status === 403 ? 'unauthorized' : 'rejected';
}

type Answer = { status: number; text: string; retryAfter: string | undefined };

async function send(transport: Transport, { method, path, body }: Sent): Promise<Answer> {
  const response = await request(`${transport.baseUrl}${path}`, {
    method,
    dispatcher: transport.agent,
    signal: AbortSignal.any([transport.signal, AbortSignal.timeout(EXCHANGE_TIMEOUT_MS)]),
    headers: {
      authorization: `Bearer ${transport.apiKey}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const retryAfter = response.headers['retry-after'];
  const text = await response.body.text();
  return { status: response.statusCode, text, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter };
}

function isOverload(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

const failure = z.object({
  error: z.coerce.number().optional().catch(undefined),
  errors: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

function describeFailure(answer: Answer): ProviderError {
  const { status } = answer;
  if (status < 400) {
    // redirects are not followed: the key is sent to PROVIDER_URL's own host only
    return new ProviderError('provider_unreadable', message('provider.redirects', { status }), { status });
  }
  if (isOverload(status)) {
    const askedMs = parseRetryAfter(answer.retryAfter, new Date());
    const retryAfterMs = askedMs === undefined ? undefined : Math.min(RETRY_AFTER_MAX_MS, askedMs);
    return new ProviderError('provider_unavailable', message('provider.answered', { status }), {
      status,
      retryAfterMs,
    });
  }
  if (status === 401) return new ProviderError('provider_unauthorized', message('provider.key_refused'), { status });
  if (status === 404) return new ProviderError('provider_not_found', message('provider.unknown'), { status });
  const body = failure.safeParse(tryJson(answer.text)).data;
  return new ProviderError('provider_rejected', message('provider.refused', { status }), {
    status,
    providerCode: body?.error,
    refusedFields: Object.keys(body?.errors ?? {}),
  });
}

function parseJson(text: string, status: number): unknown {
  try {
    return parseExactJson(text);
  } catch {
    throw new ProviderError('provider_unreadable', message('provider.not_json', { status }), { status });
  }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: string };
  // a DOMException's code is a number
  return typeof code === 'string' ? code : (name ?? 'unknown');
}
