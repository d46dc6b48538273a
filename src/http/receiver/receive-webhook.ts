import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from '../../context.ts';
import { addTraceparent } from '../../inbox/items/trace-webhook.ts';
import { BODY_BYTES_MAX } from '../../inbox/receive/check-body.ts';
import { checkHead, checkSignature } from '../../inbox/receive/check-credentials.ts';
import { nameSender } from '../../inbox/receive/name-sender.ts';
import { GarbageRefusedError, type Received, type Receiver } from '../../inbox/receive/receive.ts';
import { describeError } from '../../log.ts';
import { webhooksReceived } from '../../metrics/metrics.ts';
import { refuse } from '../../texts/refuse.ts';
import { inSpan, type SpanWork } from '../../tracing/in-span.ts';
import { markAuthenticated } from '../connections/mark-authenticated.ts';
import { matchesCidr } from '../connections/match-cidr.ts';
import { type Problem, problemOf, sendJson, sendProblem } from '../send-problem.ts';
import { createBodyReader, DISCARD_MS, respondWithoutReading } from './read-body.ts';

export const RETRY_AFTER_S = 5;
/**
 * `bytesMax`: of all incomplete bodies; the sender of a signed body is unverified until it is complete.
 * `discardMs`: how long the rest of a refused request may take.
 */
const READING_LIMITS = { bytesMax: 256 * 1024 * 1024, discardMs: DISCARD_MS };
/** Headers that are stored beside the body for investigations; none carries a secret. */
const STORED_HEADERS = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'x-request-id',
  'date',
] as const;
type StoredHeaders = { [name in (typeof STORED_HEADERS)[number]]?: string };
const HEADER_CHARS_MAX = 300;
const REFUSALS_LOGGED_EVERY_MS = 10_000;

/** The part of the context that exists before the database is reached. */
export type ReceiverContext = Pick<Context, 'config' | 'log'> & { clock: Pick<Context['clock'], 'now'> };
/** The sender's address, also behind a proxy, and the token in the path. */
type Sender = { address: string | undefined; token: string | undefined };
type Sent = { body: Buffer; address: string };
export type WebhookHandler = (request: IncomingMessage, response: ServerResponse, sender: Sender) => Promise<void>;

/**
 * Creates the handler of webhooks. A webhook is answered 200 only once it is durable. A request that can be refused by its
 * address or its headers is refused before its body is read. It uses nothing of Express: see route-webhooks.ts.
 */
export function createWebhookHandler(
  context: ReceiverContext,
  receive: Receiver,
  limits = READING_LIMITS,
): WebhookHandler {
  const readBody = createBodyReader({ bytesMax: BODY_BYTES_MAX, togetherMax: limits.bytesMax });
  const logRefusal = createRefusalLog(context);
  const refuse = (request: IncomingMessage, response: ServerResponse, problem: Problem): void => {
    const isUnauthorized = problem.status === 401 || problem.status === 403;
    webhooksReceived.inc({ outcome: isUnauthorized ? 'unauthorized' : 'refused' });
    if (isUnauthorized) logRefusal();
    respondWithoutReading(request, response, problem, limits.discardMs);
  };
  return async (request, response, { address, token }) => {
    const { WEBHOOK_ALLOW, WEBHOOK_AUTH } = context.config;
    if (WEBHOOK_ALLOW.length > 0 && !matchesCidr(WEBHOOK_ALLOW, address)) return refuse(request, response, NOT_ALLOWED);
    const head = { headers: request.headers, pathToken: token, now: context.clock.now() };
    const verdict = checkHead(context.config, head);
    if (verdict === 'refused') return refuse(request, response, NOT_GENUINE);
    // a compressed body could grow to any size
    if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
      return refuse(request, response, ENCODED);
    const body = await readBody(request, response, nameSender(address ?? ''));
    if (body === undefined) return;
    if (body === 'too_large') return refuse(request, response, TOO_LARGE);
    if (body === 'stalled') return refuse(request, response, STALLED);
    if (body === 'too_many') {
      response.setHeader('retry-after', String(RETRY_AFTER_S));
      return refuse(request, response, TOO_MANY);
    }
    if (verdict === 'needs_body' && !checkSignature(context.config, { ...head, body }))
      return refuse(request, response, NOT_GENUINE);
    // without credentials no sender is authenticated
    if (!WEBHOOK_AUTH.includes('none')) markAuthenticated(response);
    await store(context, receive, request, response, { body, address: address ?? '' });
  };
}

const NOT_ALLOWED = problemOf(refuse('webhook_address_refused'));
const NOT_GENUINE = problemOf(refuse('webhook_not_genuine'));
const ENCODED = problemOf(refuse('body_encoded'));
const TOO_MANY = problemOf(refuse('bodies_too_many'));
const STALLED = problemOf(refuse('body_stalled'));
const TOO_LARGE = problemOf(refuse('body_too_large'));

async function store(
  context: ReceiverContext,
  receive: Receiver,
  request: IncomingMessage,
  response: ServerResponse,
  sent: Sent,
): Promise<void> {
  try {
    const received = await receiveInSpan(context, receive, request, sent);
    if (received.defect) {
      webhooksReceived.inc({ outcome: 'refused' });
      sendProblem(response, problemOf(refuse(`webhook_${received.defect}`, { id: received.id })));
      return;
    }
    webhooksReceived.inc({ outcome: received.duplicate ? 'duplicate' : 'accepted' });
    sendJson(response, { received: true, id: received.id, duplicate: received.duplicate });
  } catch (error) {
    if (error instanceof GarbageRefusedError) {
      webhooksReceived.inc({ outcome: 'garbage' });
      refuseGarbage(context, response, error);
      return;
    }
    webhooksReceived.inc({ outcome: 'unavailable' });
    context.log.error({ error: describeError(error) }, 'webhook could not be stored: answered 503');
    response.setHeader('retry-after', String(RETRY_AFTER_S));
    sendProblem(response, problemOf(refuse('webhook_not_stored')));
  }
}

/**
 * The span that begins a webhook's trace. The sender's own trace is linked, never its parent: a sender could else choose the
 * trace that its webhook joins, and whether it is sampled.
 */
async function receiveInSpan(
  { log }: ReceiverContext,
  receive: Receiver,
  request: IncomingMessage,
  { body, address }: Sent,
): Promise<Received> {
  const sent = request.headers.traceparent;
  const links = typeof sent === 'string' ? [sent] : undefined;
  const work: SpanWork<Received> = async (span) => {
    const headers = chooseHeaders(request);
    if (span) addTraceparent(headers);
    const received = await receive({ body, address, headers });
    const { id, duplicate, defect } = received;
    span?.setAttributes({ 'confere.webhook': id, 'confere.duplicate': duplicate, 'confere.defect': defect });
    if (log.isLevelEnabled('debug'))
      log.debug({ stage: 'received', webhook: id, duplicate, defect, bytes: body.length }, 'webhook received');
    return received;
  };
  return await inSpan('webhook.receive', {}, work, { kind: 'server', ...(links && { links }) });
}

/** Refuses a body that names no transaction: it is dropped before any that names one. */
function refuseGarbage(context: ReceiverContext, response: ServerResponse, error: GarbageRefusedError): void {
  context.log.debug({ why: error.reason }, 'webhook that names no transaction refused');
  response.setHeader('retry-after', String(RETRY_AFTER_S));
  sendProblem(response, problemOf(error));
}

function chooseHeaders(request: IncomingMessage): StoredHeaders {
  const chosen: StoredHeaders = {};
  for (const name of STORED_HEADERS) {
    const value = request.headers[name];
    if (typeof value === 'string') chosen[name] = value.slice(0, HEADER_CHARS_MAX);
  }
  return chosen;
}

/** Logs refusals at most every 10 s, with their count: an attacker must not fill the log. */
function createRefusalLog(context: ReceiverContext): () => void {
  let count = 0;
  let loggedAt = 0;
  return () => {
    count++;
    if (Date.now() - loggedAt < REFUSALS_LOGGED_EVERY_MS) return;
    context.log.warn({ refused: count }, 'webhooks without valid credentials refused');
    loggedAt = Date.now();
    count = 0;
  };
}
