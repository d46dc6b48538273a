/**
 * Checks a row number that a lookup must have found. Writing 0 in its place would create a row that belongs to nothing.
 * @param of what was looked up, for the error text.
 * @throws Error if it is missing: a bug, which rolls the database transaction back.
 */
export function requireRowNumber(seq: number | null | undefined, of: string): number {
  if (seq === undefined || seq === null || seq <= 0) throw new Error(`no row number of ${of}`);
  return seq;
}
