import type { Request } from 'express';
import type { Context } from '../context.ts';
import { limitStatementTime } from '../database/limit-statement-time.ts';
import type { FieldFault } from '../domain/errors.ts';
import { withoutSeq } from '../operations/present-row.ts';
import { faultOf, refuseField, refuseFields } from '../texts/refuse.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

/**
 * Parses `limit` and `cursor` of a list's query. A cursor is opaque to clients: base64url of where the next page begins.
 * @throws ConfereError `invalid_request`.
 */
export function parsePage(
  request: Request,
  limitDefault = LIMIT_DEFAULT,
): { limit: number; after: string | undefined } {
  const { limit, cursor } = request.query;
  const faults: FieldFault[] = [];
  const isNumber = typeof limit === 'string' && /^\d{1,3}$/.test(limit);
  const number = limit === undefined ? limitDefault : isNumber ? Number(limit) : 0;
  if (number < 1 || number > LIMIT_MAX) faults.push(faultOf('limit', 'limit_wrong', { n: LIMIT_MAX }));
  const after = typeof cursor === 'string' && cursor !== '' ? decode(cursor) : undefined;
  if (cursor !== undefined && cursor !== '' && after === undefined) faults.push(faultOf('cursor', 'cursor_unknown'));
  if (faults.length > 0) throw refuseFields(faults);
  return { limit: number, after };
}

/**
 * Reads one page of a list in the order of its row numbers. Each statement is limited in time.
 * @param read returns up to `limit` rows after row number `after`. It is asked for one more than the page shows.
 * @returns the rows, and where the next page begins; undefined at the end.
 * @throws ConfereError `invalid_request` for a wrong limit or cursor.
 */
export async function readPage<T extends { seq: number }>(
  context: Context,
  request: Request,
  read: (reading: Context, limit: number, after: number | undefined) => Promise<T[]>,
  limitDefault?: number,
): Promise<{ rows: T[]; next: number | undefined }> {
  const { limit, after } = parseNumberedPage(request, limitDefault);
  const found = await read({ ...context, db: limitStatementTime(context.db) }, limit + 1, after);
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? rows.at(-1)?.seq : undefined };
}

/** A page whose cursor is a row number. */
export function parseNumberedPage(
  request: Request,
  limitDefault?: number,
): { limit: number; after: number | undefined } {
  const { limit, after } = parsePage(request, limitDefault);
  if (after === undefined) return { limit, after: undefined };
  const number = Number(after);
  if (Number.isSafeInteger(number) && number >= 0) return { limit, after: number };
  throw refuseField('cursor', 'cursor_unknown');
}

/** A list as our API returns it, without row numbers. @param next where the next page begins; undefined at the end. */
export function presentPage(
  plural: string,
  items: object[],
  next: string | number | undefined,
): Record<string, unknown> {
  return { [plural]: items.map(withoutSeq), next_cursor: encodeCursor(next) ?? null };
}

/** The cursor of a page, as `parsePage` decodes it. @param next where that page begins; undefined for no page. */
export function encodeCursor(next: string | number | undefined): string | undefined {
  return next === undefined ? undefined : Buffer.from(String(next)).toString('base64url');
}

function decode(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  return text !== '' && Buffer.from(text).toString('base64url') === cursor ? text : undefined;
}
