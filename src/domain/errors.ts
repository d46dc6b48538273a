/** All error codes that callers distinguish. `src/http/send-problem.ts` maps each to a status. */
export type ErrorCode =
  | 'config_invalid'
  | 'wrong_use'
  | 'not_found'
  | 'invalid_request'
  | 'conflict'
  | 'unauthorized'
  | 'forbidden'
  | 'misdirected'
  | 'too_many_requests'
  | 'unavailable'
  | 'provider_unauthorized'
  | 'provider_not_found'
  | 'provider_rejected'
  | 'provider_unavailable'
  | 'provider_unreadable'
  | 'books_broken'
  | 'report_differs';

/**
 * A bug: something that must hold does not, such as a row that was written and is not found. Its message goes to the log, so
 * it names rows by their numbers and ids, and holds nothing personal.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** An error whose message says what happened and what to do next. */
export class ConfereError extends Error {
  readonly code: ErrorCode;
  /** Validation errors by field of the input. */
  readonly fields: Record<string, string[]> | undefined;
  /** After how many seconds the caller may retry, if known. */
  readonly retryAfterS: number | undefined;
  /** Further members of the problem details with which HTTP answers. */
  readonly members: Record<string, unknown> | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown;
      fields?: Record<string, string[]>;
      retryAfterS?: number;
      members?: Record<string, unknown>;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ConfereError';
    this.code = code;
    this.fields = options.fields;
    this.retryAfterS = options.retryAfterS;
    this.members = options.members;
  }
}

/**
 * Groups faults by the name of their field, in their order. Names may be foreign: in a map, `__proto__` and `constructor` are
 * names like any other.
 */
export function groupFaults(faults: Iterable<readonly [name: string, text: string]>): Record<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [name, text] of faults) {
    const group = groups.get(name);
    if (group) group.push(text);
    else groups.set(name, [text]);
  }
  return Object.fromEntries(groups);
}
