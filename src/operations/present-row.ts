import { InvariantError } from '../domain/errors.ts';

/** Removes the row number, which no answer shows. */
export function withoutSeq<T extends object>({ seq: _, ...rest }: T & { seq?: number }): Omit<T, 'seq'> {
  return rest;
}

/**
 * A row that the request has just written, as its answer shows it.
 * @throws InvariantError if it is missing, answered 500. The row itself is committed.
 */
export function presentWritten<T extends object>(row: (T & { seq?: number }) | undefined, of: string): Omit<T, 'seq'> {
  if (row === undefined) throw new InvariantError(`${of} was written and is not found`);
  return withoutSeq(row);
}
