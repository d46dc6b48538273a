import { isUtf8 } from 'node:buffer';
import { DEPTH_MAX, hasInexactNumber, isDeeperThan, parseExactJson } from '../../domain/exact-json.ts';
import { hasKey, parseItems } from './parse-items.ts';

export const BODY_BYTES_MAX = 256 * 1024;
const BYTE_ORDER_MARK = 0xfeff;
/** A letter that could not be read. */
const UNKNOWN_LETTER = '\ufffd';

export type BodyDefect = 'empty' | 'not_json' | 'not_an_object' | 'too_deep';
export type CheckedBody = { defect: undefined; value: object } | { defect: BodyDefect; value: undefined };

/**
 * Checks that a webhook's body is a JSON object or a non-empty list, not deeper than DEPTH_MAX. JSON within a JSON text
 * (encoded twice) is read once more. A body that is no UTF-8, in Latin-1 for example, is read by its ASCII: a text with
 * any other byte is left out, since it may be a key in another spelling.
 */
export function checkBody(body: Buffer): CheckedBody {
  if (body.length === 0) return { defect: 'empty', value: undefined };
  const isReadable = isUtf8(body);
  let text = isReadable ? body.toString('utf8') : body.toString('latin1').replace(/[\x80-\xff]/g, UNKNOWN_LETTER);
  let value = tryJson(text);
  if (value === undefined) return { defect: 'not_json', value };
  if (typeof value === 'string') {
    text = value;
    value = tryJson(text);
  }
  const isUsable = typeof value === 'object' && value !== null && (!Array.isArray(value) || value.length > 0);
  if (!isUsable) return { defect: 'not_an_object', value: undefined };
  if (isDeeperThan(value as object, DEPTH_MAX)) return { defect: 'too_deep', value: undefined };
  // nearly always: parsed once
  if (isReadable && !hasInexactNumber(text)) return { defect: undefined, value: value as object };
  const exact = parseExactJson(withoutMark(text), isReadable ? undefined : isAscii) as object;
  // without a key left, nothing can be fetched
  if (!isReadable && !parseItems(exact).some(hasKey)) return { defect: 'not_json', value: undefined };
  return { defect: undefined, value: exact };
}

/** An `extra` of several values counts only as a whole. */
function isAscii(name: string, value: unknown): boolean {
  if (typeof value === 'string') return !value.includes(UNKNOWN_LETTER);
  return name !== 'extra' || typeof value !== 'object';
}

/** @returns undefined where the text is no JSON. */
function tryJson(text: string): unknown {
  try {
    return JSON.parse(withoutMark(text));
  } catch {
    return undefined;
  }
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}
