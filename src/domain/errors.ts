/** Every failure that a caller may want to tell apart; `src/http/send-problem.ts` maps each to a status. */
export type ErrorCode =
  | 'config_invalid'
  | 'wrong_use'
  | 'not_found'
  | 'invalid_request'
  | 'conflict'
  | 'unauthorized'
  | 'forbidden'
  | 'too_many_requests'
  | 'unavailable'
  | 'provider_unauthorized'
  | 'provider_not_found'
  | 'provider_rejected'
  | 'provider_unavailable'
  | 'provider_unreadable'
  | 'books_broken';

/** An error that says what happened and what to do next. */
export class ConfereError extends Error {
  readonly code: ErrorCode;
  /** Faults by field, where the caller's input was at fault. */
  readonly fields: Record<string, string[]> | undefined;
  /** When the caller may try again, where that is known. */
  readonly retryAfterS: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; fields?: Record<string, string[]>; retryAfterS?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ConfereError';
    this.code = code;
    this.fields = options.fields;
    this.retryAfterS = options.retryAfterS;
  }
}
