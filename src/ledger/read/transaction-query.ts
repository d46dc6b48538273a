import type { Day, WallTime } from '../../domain/calendar.ts';

/** Conditions on a transaction. */
export type SearchTerms = {
  id?: string | undefined;
  /** The beginning of an id, in the ledger's spelling. */
  idPrefix?: string | undefined;
  reference?: string | undefined;
  extra?: string | undefined;
  e2eId?: string | undefined;
  /** A document in any spelling; searched by its keyed hash. */
  document?: string | undefined;
  /** A prefix of the name; case and accents are ignored. */
  name?: string | undefined;
  /** Beginnings of words of the name, the e-mail, the reference and the extra: each of them must be found. */
  words?: string | undefined;
  /** Text inside of these, of a search of some days: `from` and `to` are set. */
  inside?: string | undefined;
  amountCents?: bigint | undefined;
  /** Bounds of the amount, both included. */
  amountMinCents?: bigint | undefined;
  amountMaxCents?: bigint | undefined;
  status?: string | undefined;
  operation?: string | undefined;
  /** `none`: without a platform. */
  platform?: string | undefined;
  /** The id of a merchant who gets callbacks about it. */
  merchant?: string | undefined;
};

export type TransactionQuery = SearchTerms & {
  /** Further terms, one of which must match. A search runs for each; an empty list finds nothing. */
  anyOf?: readonly SearchTerms[] | undefined;
  /** Days of the provider's calendar, both included. */
  from?: Day | undefined;
  to?: Day | undefined;
  /** Whether `from` and `to` are days of creation or of the current status. */
  by: 'created' | 'status';
  /** Only those that were created or paid from `from` to before `end`. */
  happened?: { from: WallTime; end: WallTime } | undefined;
  /** Only cashins paid from `from` to before `end` that `e2eId` does not find: without an end-to-end id, or with it in other case. */
  paidWithoutE2eId?: { from: WallTime; end: WallTime; e2eId: string } | undefined;
  /** Row numbers among which the others search: of terms that find-named.ts compares. */
  seqs?: number[] | undefined;
  limit: number;
  /** Where the page before ended. */
  after?: SearchCursor | undefined;
};

export type SearchCursor = { wall: string; seq: number };

/** @returns undefined where a term differs in the two: nothing matches both. */
export function intersect(base: TransactionQuery, terms: SearchTerms): TransactionQuery | undefined {
  const names = Object.keys(terms) as (keyof SearchTerms)[];
  const differs = names.some((name) => base[name] !== undefined && base[name] !== terms[name]);
  return differs ? undefined : { ...base, ...terms };
}
