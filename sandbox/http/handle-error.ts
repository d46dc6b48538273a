import type { ErrorRequestHandler, Response } from 'express';

/** Field name to what is wrong with it. */
export type FieldErrors = Record<string, string[]>;

/** A request that cannot be served; becomes `{error, message, errors?}`. */
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

/** The numbers that clients of the live service have met beside 422. */
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

/** A request whose fields are wrong: 422, each field by its name, the first complaint as the message. */
export function createFieldError(errors: FieldErrors, error = 422): ApiError {
  const first = Object.values(errors)[0]?.[0] ?? 'The given data was invalid.';
  return new ApiError(422, error, first, errors);
}

/** Answers a refusal as JSON. */
function answerRefusal(response: Response, { status, error, message, errors }: ApiError): void {
  response.status(status).json({ error, message, ...(errors === undefined ? {} : { errors }) });
}

/** Last in the chain. What nobody foresaw is a database that went away: 503, to be tried again, never a 500. */
export function errorHandler(log: (message: string) => void): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error);
    if (error instanceof ApiError) return answerRefusal(response, error);
    const status = statusOf(error);
    if (status >= 400 && status < 500) return answerRefusal(response, new ApiError(status, status, messageOf(error)));
    log(`answered 503: ${messageOf(error)}`);
    response.set('retry-after', '1');
    answerRefusal(response, new ApiError(503, 503, 'The service is unavailable for a moment. Try again.'));
  };
}

function statusOf(error: unknown): number {
  return typeof error === 'object' && error !== null && 'status' in error ? Number(error.status) : 0;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
