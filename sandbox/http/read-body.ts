import type { Request } from 'express';
import { ApiError } from './handle-error.ts';

/** JSON.parse's reviver as engines with source text access call it. */
type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;

/** The text of a JSON number: 10.10 stays `10.10` and is never converted to a float. */
class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Parses a request's body, with `amount` as the decimal text of the JSON number.
 * Throws ApiError 400 if it is not JSON, 422 if it is not an object.
 */
export function readBody(request: Request): Record<string, unknown> {
  const parsed = parseJson(request);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new ApiError(422, 422, 'The body must be a JSON object.');
  }
  const body: Record<string, unknown> = { ...parsed };
  const { amount } = body;
  if (amount === undefined || amount === null) return body;
  // `false` makes the schema report a wrong amount together with the other errors
  return { ...body, amount: amount instanceof WrittenNumber ? amount.text : false };
}

/** Parses a request's body; undefined if it is empty. Throws ApiError 400 if it is not JSON. */
export function readJson(request: Request): unknown {
  const text = textOf(request);
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(400, 400, 'The body is not valid JSON.');
  }
}

function parseJson(request: Request): unknown {
  const keepAmount: Reviver = (key, value, context) =>
    key === 'amount' && typeof value === 'number' ? new WrittenNumber(context?.source ?? String(value)) : value;
  try {
    return JSON.parse(textOf(request), keepAmount);
  } catch {
    throw new ApiError(400, 400, 'The body is not valid JSON.');
  }
}

function textOf(request: Request): string {
  return Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '';
}
