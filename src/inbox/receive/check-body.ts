import { isUtf8 } from 'node:buffer';
import { DEPTH_MAX, isDeeperThan } from '../../domain/json-depth.ts';

export const BODY_BYTES_MAX = 256 * 1024;
const BYTE_ORDER_MARK = 0xfeff;

export type BodyDefect = 'empty' | 'not_json' | 'not_an_object' | 'too_deep';
export type CheckedBody = { defect: undefined; value: object } | { defect: BodyDefect; value: undefined };

/** Checks that a webhook's body is a JSON object or a non-empty list, not deeper than DEPTH_MAX. */
export function checkBody(body: Buffer): CheckedBody {
  if (body.length === 0) return { defect: 'empty', value: undefined };
  if (!isUtf8(body)) return { defect: 'not_json', value: undefined };
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch {
    return { defect: 'not_json', value: undefined };
  }
  const isUsable = typeof value === 'object' && value !== null && (!Array.isArray(value) || value.length > 0);
  if (!isUsable) return { defect: 'not_an_object', value: undefined };
  if (isDeeperThan(value as object, DEPTH_MAX)) return { defect: 'too_deep', value: undefined };
  return { defect: undefined, value: value as object };
}
