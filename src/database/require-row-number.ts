/**
 * A row number that a look-up must have given: 0 in its place would write a row that belongs to nobody.
 * @param of what was looked up, for the error.
 * @throws Error where it is missing; a fault of the program, so the database transaction is rolled back.
 */
export function requireRowNumber(seq: number | null | undefined, of: string): number {
  if (seq === undefined || seq === null || seq <= 0) throw new Error(`no row number of ${of}`);
  return seq;
}
