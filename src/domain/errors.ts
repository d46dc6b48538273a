import { groupValues } from './lists.ts';

/** All error codes that callers distinguish. `src/http/send-problem.ts` maps each to a status. */
export type ErrorCode =
  | 'config_invalid'
  | 'wrong_use'
  | 'not_found'
  | 'invalid_request'
  | 'conflict'
  | 'bad_request'
  | 'request_timeout'
  | 'payload_too_large'
  | 'unsupported_encoding'
  | 'unexpected'
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

/** A fault of a field: `reason` and `values` name its text in each language (src/texts). */
export type FieldFault = { field: string; reason: string; values: RefusalValues };
export type RefusalValues = Partial<Record<string, string | number | bigint>>;
/** A message of the program: `name` and `values` name its text in each language (src/texts/messages.ts). */
export type Message = { name: string; values: Partial<Record<string, string | number>> };

type Details = {
  cause?: unknown;
  /** A stable name of what refused; default: the code. `refuse` of src/texts gives it, with the values of its text. */
  reason?: string | undefined;
  values?: RefusalValues | undefined;
  fieldFaults?: FieldFault[] | undefined;
  fields?: Record<string, string[]> | undefined;
  /** Messages whose English text is the error's: see `failure` of src/texts. */
  said?: readonly Message[] | undefined;
  retryAfterS?: number | undefined;
  members?: Record<string, unknown> | undefined;
};

/** An error whose message says what happened and what to do next. */
export class ConfereError extends Error {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly values: RefusalValues;
  readonly fieldFaults: FieldFault[];
  readonly said: readonly Message[] | undefined;
  /** Validation errors by field of the input. */
  readonly fields: Record<string, string[]> | undefined;
  /** After how many seconds the caller may retry, if known. */
  readonly retryAfterS: number | undefined;
  /** Further members of the problem details with which HTTP answers. */
  readonly members: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ConfereError';
    this.code = code;
    this.reason = details.reason ?? code;
    this.values = details.values ?? {};
    this.fieldFaults = details.fieldFaults ?? [];
    this.said = details.said;
    this.fields = details.fields;
    this.retryAfterS = details.retryAfterS;
    this.members = details.members;
  }
}

/**
 * Groups faults by the name of their field, in their order. Names may be foreign: in a map, `__proto__` and `constructor` are
 * names like any other.
 */
export function groupFaults(faults: Iterable<readonly [name: string, text: string]>): Record<string, string[]> {
  return Object.fromEntries(
    groupValues(
      faults,
      ([name]) => name,
      ([, text]) => text,
    ),
  );
}

/** A command that is asked for wrongly, or where it may not run: it ends with the exit code 2. */
export function wrongUse(message: string, details?: { cause: unknown }): ConfereError {
  return new ConfereError('wrong_use', message, details);
}
