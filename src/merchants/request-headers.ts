/** Additions of a merchant to the protocol's requests: the format of their bodies, a bearer token, and static headers. */
import type { FieldFault } from '../domain/errors.ts';
import { faultOf } from '../texts/refuse.ts';
import type { CallbackFormat } from './callback-formats.ts';

export const AUTHORIZATION = 'authorization';
/** Stands for the value of a header that is shown. */
export const MASKED = '***';
export const HEADERS_MAX = 10;
export const HEADER_NAME_CHARS_MAX = 64;
export const HEADER_VALUE_CHARS_MAX = 1024;
export const BEARER_CHARS_MAX = 512;

/** Headers of the protocol, of HTTP and of the connection, which no merchant sets. */
export const RESERVED_HEADERS = [
  ...['accept', 'accept-encoding', AUTHORIZATION, 'connection', 'content-encoding', 'content-length', 'content-type'],
  ...['date', 'expect', 'forwarded', 'host', 'keep-alive', 'te', 'traceparent', 'tracestate', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'user-agent', 'via'],
] as const;
export const RESERVED_PREFIXES = ['proxy-', 'sec-', 'webhook-'] as const;

const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
/** Visible ASCII, with blanks between. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const BEARER = /^[\x21-\x7e]+$/;

/** Values by names of headers; null removes one, and the others stay. */
export type HeaderChange = Record<string, string | null>;

export type RequestChange = {
  format?: CallbackFormat | undefined;
  /** Null: no header `authorization`. */
  bearerToken?: string | null | undefined;
  headers?: HeaderChange | undefined;
};

/** A merchant's requests as they are: the names of all their headers. */
export type RequestFacts = { format: string; headerNames: readonly string[] };

const RESERVED_NAMES = [...RESERVED_HEADERS, ...RESERVED_PREFIXES.map((prefix) => `${prefix}*`)].join(', ');
/** A name that is none, or that stands twice. */
export const HEADER_NAME_FAULT = faultOf('headers', 'header_name', { n: HEADER_NAME_CHARS_MAX });

const NO_HEADERS: RequestFacts = { format: 'standard', headerNames: [] };

/** Checks a change of a merchant's requests. No fault repeats what somebody chose. Pure. @param before as they are; default: a new merchant. */
export function checkRequest(change: RequestChange, before: RequestFacts = NO_HEADERS): FieldFault[] {
  const { bearerToken: token, headers = {}, format = before.format } = change;
  const faults: FieldFault[] = [];
  if (typeof token === 'string' && !(BEARER.test(token) && token.length <= BEARER_CHARS_MAX && token !== MASKED))
    faults.push(faultOf('bearer_token', 'bearer_token_form', { n: BEARER_CHARS_MAX }));
  const hasToken = token === undefined ? before.headerNames.includes(AUTHORIZATION) : token !== null;
  if (format === 'provider' && !hasToken) faults.push(faultOf('bearer_token', 'bearer_token_missing'));
  const fault = findHeaderFault(headers, before.headerNames);
  if (fault) faults.push(fault);
  return faults;
}

function findHeaderFault(headers: HeaderChange, before: readonly string[]): FieldFault | undefined {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (new Set(names).size < names.length) return HEADER_NAME_FAULT;
  if (names.some((name) => !NAME.test(name) || name.length > HEADER_NAME_CHARS_MAX)) return HEADER_NAME_FAULT;
  if (names.some(isReserved)) return faultOf('headers', 'header_reserved', { names: RESERVED_NAMES });
  const values = Object.values(headers).filter((value) => value !== null);
  // a masked value that comes back would replace the real one
  if (values.some((value) => !VALUE.test(value) || value.length > HEADER_VALUE_CHARS_MAX || value === MASKED))
    return faultOf('headers', 'header_value', { n: HEADER_VALUE_CHARS_MAX });
  const after = new Set(before.filter((name) => name !== AUTHORIZATION));
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) after.delete(name.toLowerCase());
    else after.add(name.toLowerCase());
  }
  return after.size > HEADERS_MAX ? faultOf('headers', 'headers_many', { n: HEADERS_MAX }) : undefined;
}

function isReserved(name: string): boolean {
  return (
    (RESERVED_HEADERS as readonly string[]).includes(name) || RESERVED_PREFIXES.some((one) => name.startsWith(one))
  );
}

/** Returns all headers that a change sets or removes, the bearer token's too, by their names in lower case. */
export function listHeaders({ bearerToken: token, headers = {} }: RequestChange): HeaderChange {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const bearer = token === undefined ? {} : { [AUTHORIZATION]: token === null ? null : `Bearer ${token}` };
  return { ...Object.fromEntries(own), ...bearer };
}
