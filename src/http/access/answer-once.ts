/**
 * `Idempotency-Key` of the API: the layer that each request passes after its body is read. What it guarantees stands in
 * src/access/keyed-request.ts; the key belongs to the bearer token.
 */
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import {
  awaitAnswer,
  checkKey,
  closeKeyedRequest,
  type KeyedRequest,
  KeyInUseError,
  keepAnswer,
  openKeyedRequest,
  runKeyed,
} from '../../access/keyed-request.ts';
import type { Context } from '../../context.ts';
import { DEPTH_MAX, isDeeperThan } from '../../domain/exact-json.ts';
import { compareText } from '../../domain/lists.ts';
import { describeError } from '../../log.ts';
import { refuseField } from '../../texts/refuse.ts';
import { readBearer } from './authorize.ts';

export const CHANGING_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];
const HEADER = 'Idempotency-Key';
const REPLAYED = 'idempotency-replayed';
const KEPT_HEADERS = ['content-type', 'location'];

type Answer = { status: number; headers: Record<string, string>; body: Buffer };

/** Answers a repeated request by the answer that is kept, and keeps the answer of another one. @throws ConfereError `invalid_request`. */
export function answerOnce(context: Context): RequestHandler {
  return async (request, response, next) => {
    const key = request.headers[HEADER.toLowerCase()];
    if (typeof key !== 'string' || !CHANGING_METHODS.includes(request.method)) {
      next();
      return;
    }
    checkKey(HEADER, key);
    const asked = { caller: readBearer(request) ?? '', key, parts: describeRequest(request) };
    const opened = await openKeyedRequest<Answer>(context, asked);
    if ('answer' in opened) {
      send(response, opened.answer, true);
      return;
    }
    if (response.headersSent) {
      // given up while it waited for the database
      await closeKeyedRequest(opened.request);
      return;
    }
    holdAnswer(response, opened.request, context);
    runKeyed(opened.request, next);
  };
}

/** Answers a request that met another one with its key, at the same time, by the answer of that one. */
export const answerAfterOther: ErrorRequestHandler = async (error, _request, response, next) => {
  if (!(error instanceof KeyInUseError)) {
    next(error);
    return;
  }
  const opened = await awaitAnswer<Answer>(error.request);
  if (!('answer' in opened)) {
    await closeKeyedRequest(opened.request);
    throw error;
  }
  send(response, opened.answer, true);
};

/** Method, path, query and body: of a file its bytes, of JSON its content, however it is written. */
function describeRequest({ method, baseUrl, path, query, body }: Request): (string | Buffer)[] {
  const given: unknown = body ?? {};
  if (!Buffer.isBuffer(given) && isDeeperThan(given as object, DEPTH_MAX))
    throw refuseField('body', 'body_too_deep', { n: DEPTH_MAX });
  const content = Buffer.isBuffer(given) ? given : JSON.stringify(sortKeys(given));
  return [method, baseUrl + path, JSON.stringify(sortKeys(query)), content];
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sortKeys(inner)]));
}

/** Keeps what the handlers answer before it is sent. A refusal, and an answer that cannot be kept, are not. */
function holdAnswer(response: Response, request: KeyedRequest, { log }: Context): void {
  const end = response.end.bind(response);
  const close = () =>
    closeKeyedRequest(request).catch((error: unknown) =>
      log.warn({ error: describeError(error) }, 'a lease of an idempotency key was not ended; it ends by itself'),
    );
  response.end = ((body?: string | Buffer) => {
    response.end = end;
    if (response.statusCode >= 400 || !request.isStored) {
      void close();
      return end(body);
    }
    const kept = KEPT_HEADERS.map((name) => [name, response.getHeader(name)]).filter(
      ([, value]) => value !== undefined,
    );
    const headers = Object.fromEntries(kept) as Answer['headers'];
    const answer = { status: response.statusCode, headers, body: Buffer.from(body ?? '') };
    keepAnswer<Answer>(request, answer).then(
      (first) => send(response, first, request.isContinued || first !== answer),
      (error: unknown) => {
        void close();
        response.req.next?.(error);
      },
    );
    return response;
  }) as Response['end'];
}

function send(response: Response, { status, headers, body }: Answer, isReplayed: boolean): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (isReplayed) response.setHeader(REPLAYED, 'true');
  if (status !== 204) response.setHeader('content-length', body.length);
  response.end(body);
}
