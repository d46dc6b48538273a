import type { ErrorRequestHandler, Response } from 'express';

/** Field name to what is wrong with it. */
export type FieldErrors = Record<string, string[]>;

/** An error that is answered as `{error, message, errors?}`. */
export class ApiError extends Error {
  readonly status: number;
  readonly error: number;
  readonly errors: FieldErrors | undefined;

  constructor(status: number, error: number, message: string, errors?: FieldErrors) {
    super(message);
    this.status = status;
    this.error = error;
    this.errors = errors;
  }
}

/** Error numbers beside 422 that clients of the live service have seen. */
export const ERROR_CODES = {
  badPlatform: 10,
  documentBlocked: 15,
  badDocument: 17,
  belowMinimum: 23,
  duplicate: 25,
  badKey: 26,
  keyOfAnother: 28,
  badKeyType: 30,
  notAllowed: 34,
} as const;

/** Creates a 422 error with the errors of each field; the first one is the message. */
export function createFieldError(errors: FieldErrors, error = 422): ApiError {
  const first = Object.values(errors)[0]?.[0] ?? 'The given data was invalid.';
  return new ApiError(422, error, first, errors);
}

function answerError(response: Response, { status, error, message, errors }: ApiError): void {
  response.status(status).json({ error, message, ...(errors === undefined ? {} : { errors }) });
}

/** The last handler. An unexpected error is most likely a database that is away: answers 503 for a retry, never 500. */
export function errorHandler(log: (message: string) => void): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error);
    if (error instanceof ApiError) return answerError(response, error);
    const status = statusOf(error);
    if (status >= 400 && status < 500) return answerError(response, new ApiError(status, status, messageOf(error)));
    log(`answered 503: ${messageOf(error)}`);
    response.set('retry-after', '1');
    answerError(response, new ApiError(503, 503, 'The service is unavailable for a moment. Try again.'));
  };
}

function statusOf(error: unknown): number {
  return typeof error === 'object' && error !== null && 'status' in error ? Number(error.status) : 0;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
