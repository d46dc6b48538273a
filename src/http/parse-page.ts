import type { Request } from 'express';
import { ConfereError } from '../domain/errors.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

/**
 * `limit` and `cursor` of a list's query. A cursor is opaque to its reader: base64url of where the next page begins.
 * @throws ConfereError `invalid_request`.
 */
export function parsePage(request: Request): { limit: number; after: string | undefined } {
  const { limit, cursor } = request.query;
  const fields: Record<string, string[]> = {};
  const isNumber = typeof limit === 'string' && /^\d{1,3}$/.test(limit);
  const number = limit === undefined ? LIMIT_DEFAULT : isNumber ? Number(limit) : 0;
  if (number < 1 || number > LIMIT_MAX) fields.limit = [`must be a whole number from 1 to ${LIMIT_MAX}`];
  const after = typeof cursor === 'string' && cursor !== '' ? decode(cursor) : undefined;
  if (cursor !== undefined && cursor !== '' && after === undefined) fields.cursor = ['is none that we gave'];
  if (Object.keys(fields).length > 0) {
    const detail = Object.entries(fields).map(([name, [fault]]) => `${name} ${fault}`);
    throw new ConfereError('invalid_request', detail.join('; '), { fields });
  }
  return { limit: number, after };
}

/** The same where the next page begins at a row number. */
export function parseNumberedPage(request: Request): { limit: number; after: number | undefined } {
  const { limit, after } = parsePage(request);
  if (after === undefined) return { limit, after: undefined };
  const number = Number(after);
  if (Number.isSafeInteger(number) && number >= 0) return { limit, after: number };
  throw new ConfereError('invalid_request', 'cursor is none that we gave', {
    fields: { cursor: ['is none that we gave'] },
  });
}

/** A list as our API gives it. @param next where the next page begins; undefined at the end. */
export function presentPage<T>(plural: string, items: T[], next: string | number | undefined): Record<string, unknown> {
  return { [plural]: items, next_cursor: next === undefined ? null : Buffer.from(String(next)).toString('base64url') };
}

/** Of `limit + 1` rows read: those of the page, and the last one of it when more follow. */
export function trimPage<T>(rows: T[], limit: number): { rows: T[]; last: T | undefined } {
  const shown = rows.slice(0, limit);
  return { rows: shown, last: rows.length > limit ? shown.at(-1) : undefined };
}

function decode(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  return text !== '' && Buffer.from(text).toString('base64url') === cursor ? text : undefined;
}
