import { createHmac, randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Draft } from '../parts/fields.ts';

/** A key is a random half, and a half that only this session can compute from it, the form and the values. */
const HALF_BYTES = 8;

/** The key of a preview. @param half of a key that was sent; else a new one. */
export function keyOf(
  request: Pick<Request, 'path'>,
  response: Response,
  { values, seen }: { values: Draft['values']; seen: string },
  half = randomBytes(HALF_BYTES).toString('hex'),
): string {
  const text = JSON.stringify([half, request.path, values, seen]);
  return half + hashOf(response, text);
}

/** A hash that only this session can compute. */
export function hashOf(response: Response, text: string): string {
  const hash = createHmac('sha256', String(response.locals.formToken ?? '')).update(text);
  return hash.digest('hex').slice(0, 2 * HALF_BYTES);
}

/** The random half of a key. */
export function halfOf(key: string): string {
  return key.slice(0, 2 * HALF_BYTES);
}
