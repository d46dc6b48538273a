import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { NextFunction } from 'express';
import { isStatementTimeout } from '../database/limit-statement-time.ts';
import { isDatabaseAway } from '../database/open/explain-failure.ts';
import { ConfereError, type ErrorCode } from '../domain/errors.ts';
import { describeError, type Log } from '../log.ts';
import { type Reason, refuse } from '../texts/refuse.ts';
import { isGivenUp } from './answer-without-database.ts';

/** The HTTP status of each error code. */
const STATUS: Record<ErrorCode, number> = {
  config_invalid: 500,
  wrong_use: 400,
  not_found: 404,
  invalid_request: 422,
  conflict: 409,
  bad_request: 400,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_encoding: 415,
  unexpected: 500,
  unauthorized: 401,
  forbidden: 403,
  misdirected: 421,
  too_many_requests: 429,
  unavailable: 503,
  provider_unauthorized: 502,
  provider_not_found: 404,
  provider_rejected: 502,
  provider_unavailable: 502,
  provider_unreadable: 502,
  books_broken: 500,
  report_differs: 500,
};

export type Problem = { status: number; reason: string; detail: string; errors?: Record<string, string[]> };

/** The problem of an error. */
export function problemOf({ code, reason, message, fields, members }: ConfereError): Problem {
  return { status: STATUS[code], reason, detail: message, ...(fields ? { errors: fields } : {}), ...members };
}

/** Answers with RFC 9457 problem details. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  sendText(response, `${PROBLEM_TYPE}; charset=utf-8`, prepare(response, problem));
}

/** Answers with JSON, with the headers that Express sends. */
export function sendJson(response: ServerResponse, value: object): void {
  sendText(response, 'application/json; charset=utf-8', JSON.stringify(value));
}

/** Writes the whole response without ending it. @returns a function that ends it. */
export function writeProblem(response: ServerResponse, problem: Problem): () => void {
  const text = prepare(response, problem);
  response.setHeader('Content-Type', PROBLEM_TYPE);
  response.setHeader('content-length', Buffer.byteLength(text));
  response.write(text);
  return () => response.end();
}

function sendText(response: ServerResponse, type: string, text: string): void {
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

const PROBLEM_TYPE = 'application/problem+json';

function prepare(response: ServerResponse, problem: Problem): string {
  const { status, ...rest } = problem;
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  response.statusCode = status;
  return JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, ...rest });
}

/** Codes of errors that mean that the client left. */
const CLIENT_LEFT = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNABORTED', 'ECONNRESET', 'EPIPE']);

/** A fail-over to another database host takes seconds. */
const AWAY_RETRY_S = 5;

/** A request, with the route that Express found for it. */
type Routed = IncomingMessage & { route?: { path: string } };

/**
 * The last middleware: answers an error with a problem. An unexpected error is logged and answered 500. A response that had
 * begun is cut off, so that no client mistakes it for a complete one; that is logged too, unless the client left.
 */
export function handleErrors(log: Log) {
  // Express recognizes an error handler by its four parameters
  return (error: unknown, request: Routed, response: ServerResponse, _next: NextFunction): void => {
    if (isGivenUp(response)) return;
    if (response.headersSent) {
      response.destroy();
      if (!CLIENT_LEFT.has(String((error as { code?: unknown } | undefined)?.code)))
        log.error({ error: describeError(error), ...describeRoute(request) }, 'a response failed and was cut off');
      return;
    }
    const known = describeProblem(error);
    const away = known.status === 503 ? AWAY_RETRY_S : undefined;
    const retryAfterS = error instanceof ConfereError ? (error.retryAfterS ?? away) : away;
    if (retryAfterS !== undefined) response.setHeader('retry-after', String(retryAfterS));
    if (known.status >= 500) {
      log.error({ error: describeError(error), ...describeRoute(request) }, 'a request failed');
    }
    sendProblem(response, known);
  };
}

function describeRoute(request: Routed) {
  return { method: request.method, route: request.route?.path };
}

function describeProblem(error: unknown): Problem {
  if (error instanceof ConfereError) return problemOf(error);
  if (isStatementTimeout(error)) return problemOf(refuse('statement_too_long'));
  if (isDatabaseAway(error)) return problemOf(refuse('database_away'));
  if (error instanceof URIError) return problemOf(refuse('address_unreadable'));
  const { status, type = '' } = (error ?? {}) as { status?: number; type?: string };
  const reason = PARSER_REASONS.get(type);
  if (reason) return problemOf(refuse(reason));
  if (status !== undefined && status >= 400 && status < 500)
    return { ...problemOf(refuse('request_unreadable')), status };
  return problemOf(refuse('unexpected_failure'));
}

/** Reasons by the types of errors of Express's parsers of bodies. */
const PARSER_REASONS = new Map([
  ['entity.too.large', 'body_too_large'],
  ['encoding.unsupported', 'body_encoded'],
  ['entity.parse.failed', 'body_not_json'],
  ['request.aborted', 'body_cut_off'],
  ['request.size.invalid', 'body_cut_off'],
] as const satisfies [string, Reason][]) as ReadonlyMap<string, 'body_too_large'>;
