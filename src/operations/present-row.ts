import { refuse } from '../texts/refuse.ts';

/** Removes the row number, which no answer shows. */
export function withoutSeq<T extends object>({ seq: _, ...rest }: T & { seq?: number }): Omit<T, 'seq'> {
  return rest;
}

/**
 * A row that the request has just written, as its answer shows it.
 * @throws ConfereError `unavailable` if it is missing: after a fail-over, a host may not have applied yet what is committed.
 */
export function presentWritten<T extends object>(row: (T & { seq?: number }) | undefined): Omit<T, 'seq'> {
  if (row === undefined) throw refuse('written_not_shown');
  return withoutSeq(row);
}
