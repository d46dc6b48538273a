import type { Request } from 'express';
import type { FieldFault } from '../domain/errors.ts';
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX } from '../operations/describe-operation.ts';
import { withoutSeq } from '../operations/present-row.ts';
import { faultOf, refuseField, refuseFields } from '../texts/refuse.ts';

/**
 * Parses `limit` and `cursor` of a list's query. A cursor is opaque to clients: base64url of where the next page begins.
 * @throws ConfereError `invalid_request`.
 */
export function parsePage(
  { query: { limit, cursor } }: Pick<Request, 'query'>,
  limitDefault = PAGE_ITEMS_DEFAULT,
): { limit: number; after: string | undefined } {
  const faults: FieldFault[] = [];
  const isNumber = typeof limit === 'string' && /^\d{1,3}$/.test(limit);
  const number = limit === undefined ? limitDefault : isNumber ? Number(limit) : 0;
  if (number < 1 || number > PAGE_ITEMS_MAX) faults.push(faultOf('limit', 'limit_wrong', { n: PAGE_ITEMS_MAX }));
  const after = typeof cursor === 'string' && cursor !== '' ? decode(cursor) : undefined;
  if (cursor !== undefined && cursor !== '' && after === undefined) faults.push(faultOf('cursor', 'cursor_unknown'));
  if (faults.length > 0) throw refuseFields(faults);
  return { limit: number, after };
}

/** A page whose cursor is a row number. */
export function parseNumberedPage(
  request: Pick<Request, 'query'>,
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
