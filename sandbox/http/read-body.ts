import type { Request } from 'express';
import { ApiError } from './handle-error.ts';

/** JSON.parse's reviver as engines with source text access call it. */
type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;

/** A number in JSON, as it was written: 10.10 stays `10.10` and never passes through a float. */
class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * The object that a request's body holds, its `amount` as the decimal text that was written.
 * Throws Refusal 400 where it is no JSON, 422 where it is JSON but no object.
 */
export function readBody(request: Request): Record<string, unknown> {
  const parsed = parseJson(request);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new ApiError(422, 422, 'The body must be a JSON object.');
  }
  const body: Record<string, unknown> = { ...parsed };
  const { amount } = body;
  if (amount === undefined || amount === null) return body;
  // what is no number is left for the schema to refuse, together with what else is wrong
  return { ...body, amount: amount instanceof WrittenNumber ? amount.text : false };
}

/** Any JSON that a request's body holds; undefined for an empty body. Throws Refusal 400 where it is no JSON. */
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
