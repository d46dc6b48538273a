import { InvariantError } from '../domain/errors.ts';

/**
 * Checks a row number that a lookup must have found. Writing 0 in its place would create a row that belongs to nothing.
 * @param of what was looked up, for the error text: an id or a row number, nothing personal.
 * @throws InvariantError if it is missing; it rolls the database transaction back.
 */
export function requireRowNumber(seq: number | bigint | null | undefined, of: string): number {
  const number = Number(seq);
  if (!Number.isSafeInteger(number) || number <= 0) throw new InvariantError(`no row number of ${of}`);
  return number;
}
