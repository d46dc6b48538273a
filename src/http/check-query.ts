/**
 * Checks the query string of an API request: only parameters that its operation has, each once. A mistyped filter must not
 * return an unfiltered list, and a mistyped `dry_run` must not act.
 */
import type { Request, RequestHandler } from 'express';
import type { Operation } from '../operations/describe-operation.ts';
import { redactFieldName } from '../operations/parse-input.ts';
import { faultOf, refuseFields } from '../texts/refuse.ts';

/** A search compares each text with many others. */
export const QUERY_CHARS_MAX = 2_048;

type Route = { method: string; path: RegExp; names: readonly string[] };

/**
 * Refuses unknown and repeated query parameters of each operation in the list. Other requests pass.
 * @throws ConfereError `invalid_request` with the faults by parameter.
 */
export function checkQuery(operations: readonly Operation[]): RequestHandler {
  const routes = operations.map(toRoute);
  return (request, _response, next) => {
    const path = `${request.baseUrl}${request.path}`;
    const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
    const route = routes.find((one) => one.method === method && one.path.test(path));
    if (route) assertKnownParameters(request, route.names);
    next();
  };
}

/** @param names the known parameters. @throws ConfereError `invalid_request`. */
export function assertKnownParameters(request: Pick<Request, 'query'>, names: readonly string[]): void {
  const faults = Object.entries(request.query).flatMap(([name, value]) => {
    if (!names.includes(name)) return [faultOf(redactFieldName(name), 'parameter_unknown', { known: sayNames(names) })];
    if (typeof value === 'string' && value.length > QUERY_CHARS_MAX)
      return [faultOf(name, 'text_too_long', { n: QUERY_CHARS_MAX })];
    return Array.isArray(value) ? [faultOf(name, 'given_twice')] : [];
  });
  if (faults.length > 0) throw refuseFields(faults);
}

function sayNames(names: readonly string[]): string {
  if (names.length === 0) return 'are none';
  return names.length === 1 ? `is ${names[0]}` : `are ${names.join(', ')}`;
}

/** Matches `/api/v1/mismatches/{id}` as Express does: one segment for a name, with or without a trailing slash. */
function toRoute({ method, path, query }: Operation): Route {
  const pattern = path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+');
  return { method, path: new RegExp(`^${pattern}/?$`), names: Object.keys(query?.shape ?? {}) };
}
