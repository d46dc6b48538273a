/** What a merchant's requests have besides the protocol: the format of their bodies, a bearer token, and static headers. */

/** `standard`: our body, by Standard Webhooks. `provider`: the flat body and the bearer token that the provider posts. */
export const CALLBACK_FORMATS = ['standard', 'provider'] as const;
export type CallbackFormat = (typeof CALLBACK_FORMATS)[number];

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

export type RequestFault = { field: 'bearer_token' | 'headers'; code: keyof typeof FAULTS };

/** What is wrong with a change. No text repeats a value or a name that somebody chose. */
export const FAULTS = {
  token_form: `must be 1 to ${BEARER_CHARS_MAX} visible ASCII characters without blanks`,
  token_missing: 'is required by the format provider: the token that the merchant compares',
  name: `a name has letters, digits and hyphens, at most ${HEADER_NAME_CHARS_MAX}, and stands once`,
  reserved: `not one of ${RESERVED_HEADERS.join(', ')}, nor one that begins with ${RESERVED_PREFIXES.join(', ')}; bearer_token sets authorization`,
  value: `a value has 1 to ${HEADER_VALUE_CHARS_MAX} visible ASCII characters, perhaps with blanks between them`,
  too_many: `at most ${HEADERS_MAX}`,
} as const;

const NO_HEADERS: RequestFacts = { format: 'standard', headerNames: [] };

/** Checks a change of a merchant's requests. Pure. @param before as they are; default: a new merchant. */
export function checkRequest(change: RequestChange, before: RequestFacts = NO_HEADERS): RequestFault[] {
  const { bearerToken: token, headers = {}, format = before.format } = change;
  const faults: RequestFault[] = [];
  if (typeof token === 'string' && !(BEARER.test(token) && token.length <= BEARER_CHARS_MAX && token !== MASKED))
    faults.push({ field: 'bearer_token', code: 'token_form' });
  const hasToken = token === undefined ? before.headerNames.includes(AUTHORIZATION) : token !== null;
  if (format === 'provider' && !hasToken) faults.push({ field: 'bearer_token', code: 'token_missing' });
  const code = findHeaderFault(headers, before.headerNames);
  if (code) faults.push({ field: 'headers', code });
  return faults;
}

function findHeaderFault(headers: HeaderChange, before: readonly string[]): RequestFault['code'] | undefined {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (new Set(names).size < names.length) return 'name';
  if (names.some((name) => !NAME.test(name) || name.length > HEADER_NAME_CHARS_MAX)) return 'name';
  if (names.some(isReserved)) return 'reserved';
  const values = Object.values(headers).filter((value) => value !== null);
  // a masked value that comes back would replace the real one
  if (values.some((value) => !VALUE.test(value) || value.length > HEADER_VALUE_CHARS_MAX || value === MASKED))
    return 'value';
  const after = new Set(before.filter((name) => name !== AUTHORIZATION));
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) after.delete(name.toLowerCase());
    else after.add(name.toLowerCase());
  }
  return after.size > HEADERS_MAX ? 'too_many' : undefined;
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
