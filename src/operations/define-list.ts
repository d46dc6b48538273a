/** A list that people may read, declared once: the API, its document, the command line and the console read it from here. */
import type { z } from 'zod';
import { audit, auditShown, type ShowingAction } from '../access/audit.ts';
import { maySeePersons, type Role } from '../access/roles.ts';
import { type Caller, seesPersons } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { limitReads } from '../database/limit-statement-time.ts';
import { maskNote } from '../domain/person/mask-mismatch.ts';
import { maskPlatform } from '../domain/person/mask-person.ts';
import { refuseField } from '../texts/refuse.ts';
import { authorizeSearch, type PersonFilters } from './authorize-search.ts';
import { authorizePlatform } from './choose-platform.ts';
import type { By } from './define-change.ts';

export type Page = {
  /** Rows at most. */
  limit: number;
  /** The number of the row that the page follows; undefined for the first page. */
  after: number | undefined;
};
type Numbered = { seq: number };
/** Withholds a platform that is a document, and every note. */
const MASKS = { platform: maskPlatform<string | null>, note: maskNote<string | null> };
type Withheld = Record<keyof typeof MASKS, string | null>;
type Via = NonNullable<By['via']>;

/** @template Row as `read` returns it. @template Filter the query, parsed. */
export type List<Row extends Numbered = Numbered, Filter = unknown> = {
  /** The plural of its items, by which the answer has them. */
  name: string;
  roles: readonly [Role, ...Role[]];
  /** Below `/api/v1`, as OpenAPI writes it; it ends in the name. Without it, the API does not have the list. */
  route?: `/${string}`;
  filters?: z.ZodObject & z.ZodType<Filter>;
  /** An item of the answer. */
  row: z.ZodType;
  /** The part of a filter that may name a person: a viewer may not guess by it. */
  search?(filter: Filter): PersonFilters;
  /** Reads up to `page.limit` rows. Each statement is limited in time. */
  read(reading: Context, page: Page, filter: Filter, by: { id: string; caller: Caller }): Promise<Row[]>;
  /** Also a merchant reads it, of the sources of its token. */
  isForSources?: true;
  /** The action and target of the audit row for callers who see persons: before the rows are shown. */
  personal?(context: Context, rows: Row[], by: { caller: Caller; filter: Filter; via?: Via }): Promise<void>;
  /** Columns that may name a person, as a viewer may not see them. */
  withheld?: readonly (keyof Withheld)[];
  /** Returns the rows as this caller may see them: for masks that depend on more than the column. */
  mask?(context: Context, rows: Row[], caller: Caller, filter: Filter): Promise<Row[]> | Row[];
  /** A row as the API and the command line show it; default: without its number. */
  present?(row: Row, caller: Caller): object;
};

/** A row of a list, as it is shown. */
export type RowOf<L extends { read: unknown }> = L extends { read(...given: never[]): Promise<(infer Row)[]> }
  ? Omit<Row, 'seq'>
  : never;

export function defineList<Row extends Numbered, Filter = unknown>(list: List<Row, Filter>): List<Row, Filter> {
  return list;
}

/** Records that persons are about to be shown, of a list whose rows name no transaction. */
export function auditShowing(action: string, target: string) {
  return (context: Context, _rows: unknown, { caller, via }: { caller: Caller; via?: Via }): Promise<void> =>
    audit(context, { actor: caller.id, action, target, detail: via });
}

/** Records the transactions whose persons are about to be shown, and the names of the filters that found them. */
export function auditRows<Row>(action: ShowingAction, idsOf: (row: Row) => readonly (string | null)[]) {
  return (context: Context, rows: Row[], { caller, filter, via }: Shown): Promise<void> => {
    const transactions = rows.flatMap(idsOf).filter((id) => id !== null);
    return auditShown(context, { actor: caller.id, action, target: nameFilters(filter) }, { transactions, via });
  };
}

type Shown = { caller: Caller; filter: unknown; via?: Via };

/** The audit's target of a list: the names of the filters that are set, never their values. @param filter.named as a page has them. */
export function nameFilters(filter: unknown): string {
  const { named, ...filters } = filter as { named?: string } & Record<string, unknown>;
  return named ?? JSON.stringify(Object.keys(filters).filter((name) => filters[name] !== undefined));
}

/**
 * Reads one page of a list, as the caller may see it, in the order of its row numbers.
 * @throws ConfereError `invalid_request` for a reversed range, or a platform that the caller may not choose.
 * @returns the rows, and after which row the next page begins; undefined at the end.
 */
export async function readList<Row extends Numbered, Filter>(
  context: Context,
  list: List<Row, Filter>,
  { filter, page, ...by }: { filter: Filter; page: Page; caller: Caller; id?: string; via?: Via },
): Promise<{ rows: Row[]; next: number | undefined }> {
  const reversed = findReversed(filter as object);
  if (reversed !== undefined) {
    const isAmount = typeof (filter as Record<string, unknown>)[reversed] === 'bigint';
    throw refuseField(reversed, isAmount ? 'to_less_than_from' : 'to_before_from');
  }
  authorizePlatform(by.caller, (filter as { platform?: string }).platform);
  if (list.search) await authorizeSearch(context, by.caller, list.search(filter));
  const reading = limitReads(context);
  const found = await list.read(reading, { ...page, limit: page.limit + 1 }, filter, {
    ...{ id: by.id ?? '', caller: by.caller },
  });
  const rows = found.slice(0, page.limit);
  if (seesPersons(by.caller)) await list.personal?.(context, rows, { ...by, filter });
  const masked = list.mask ? await list.mask(context, rows, by.caller, filter) : rows;
  return {
    rows: masked.map((row) => withhold(list, row, by.caller)),
    next: found.length > page.limit ? rows.at(-1)?.seq : undefined,
  };
}

/** The `to` of a range of a filter, such as `to` or `due_to`, that is before its `from`: such a list would be empty, which reads as an answer. */
export function findReversed(filter: object): string | undefined {
  const values = new Map<string, unknown>(Object.entries(filter ?? {}));
  return [...values.keys()].find((name) => {
    const from = values.get(name.replace(/to$/, 'from'));
    const to = values.get(name);
    return /(?:^|_)to$/.test(name) && isOrdered(from) && isOrdered(to) && from > to;
  });
}

/** Days and moments as texts; amounts as people write them have no order as texts. */
function isOrdered(value: unknown): value is string | bigint | Date {
  if (typeof value === 'string') return /^\d{4}-\d{2}-\d{2}/.test(value);
  return typeof value === 'bigint' || value instanceof Date;
}

/** Returns a row of a list without what its declaration withholds from this caller. */
export function withhold<Row extends Numbered>(
  { withheld = [] }: Pick<List, 'withheld'>,
  row: Row,
  { role }: Caller,
): Row {
  if (maySeePersons(role)) return row;
  const of = row as Row & Withheld;
  const masked = withheld.map((column) => [column, MASKS[column](of[column])]);
  return { ...row, ...Object.fromEntries(masked) };
}

/** A list that is in another order than that of row numbers: a page begins after a text, which `find` gave. */
export type Search<Filter = unknown> = Pick<List, 'name' | 'roles' | 'row'> & {
  route: `/${string}`;
  filters: z.ZodObject & z.ZodType<Filter>;
  /** Reads a page, as this caller may see it, and audits that. @throws ConfereError `invalid_request`, `forbidden`. */
  find(
    context: Context,
    page: { limit: number; after: string | undefined },
    filter: Filter,
    caller: Caller,
  ): Promise<{ rows: object[]; next: string | undefined }>;
};

export function defineSearch<Filter>(search: Search<Filter>): Search<Filter> {
  return search;
}
