import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { matchesPlatform } from '../database/shared/matches-platform.ts';
import { NO_PLATFORM } from '../domain/platform.ts';
import type { Operation } from '../domain/statuses.ts';

/** Which events a merchant receives: OR within a list, AND across the lists; an empty list matches all. */
export type MerchantFilter = {
  platforms: string[];
  operations: string[];
  statuses: string[];
  reference_prefixes: string[];
  extra_prefixes: string[];
  /** Keys of `extra`, parsed as a JSON object, and their required values. */
  extra_match: Record<string, string | number | boolean>;
  /** Whether the merchant receives changes of expected payments too. Only the operators' filter decides that. */
  expected: boolean;
};

/** A key that no `extra_match` may have: parsers of requests leave it out without a word. */
export const UNUSABLE_KEY = '__proto__';

/** A filter as entered: omitted lists are empty. */
export type FilterInput = { [Name in keyof MerchantFilter]?: MerchantFilter[Name] | undefined };

export function completeFilter(input: FilterInput = {}): MerchantFilter {
  return {
    platforms: input.platforms ?? [],
    operations: input.operations ?? [],
    statuses: input.statuses ?? [],
    reference_prefixes: input.reference_prefixes ?? [],
    extra_prefixes: input.extra_prefixes ?? [],
    extra_match: input.extra_match ?? {},
    expected: input.expected ?? false,
  };
}

export type FilterableFacts = {
  operation: Operation;
  status: string;
  reference: string | null;
  extra: string | null;
  platform: string | null;
};

/** Whether an event matches a filter. Texts are compared exactly; the platform `none` means no platform. */
export function matchesFilter(filter: MerchantFilter, facts: FilterableFacts): boolean {
  return isAmong(filter.statuses, facts.status) && matchesNamed(filter, facts, [facts.reference]);
}

/**
 * SQL conditions of a filter's lists. Keys of `extra` are compared by `matchesFilter` alone.
 * @param table of transactions. @param hasStatus the condition that the event has a status.
 */
export function listConditions(
  { platforms, operations, statuses, ...prefixes }: MerchantFilter,
  table: string,
  hasStatus: (status: string) => RawBuilder<SqlBool>,
): RawBuilder<SqlBool>[] {
  const startsWith = (column: string) => (prefix: string) => {
    const bytes = Buffer.from(prefix);
    return sql<SqlBool>`LEFT(${sql.ref(`${table}.${column}`)}, ${sql.lit(bytes.length)}) = ${bytes}`;
  };
  const lists = [
    platforms.map((platform) => matchesPlatform(`${table}.platform`, platform)),
    operations.map((operation) => sql<SqlBool>`${sql.ref(`${table}.operation`)} = ${operation}`),
    statuses.map(hasStatus),
    prefixes.reference_prefixes.map(startsWith('reference')),
    prefixes.extra_prefixes.map(startsWith('extra')),
  ];
  return lists.filter((list) => list.length > 0).map((list) => sql<SqlBool>`(${sql.join(list, sql` OR `)})`);
}

/** An expected payment as a filter compares it. `names`: its number and its references. */
export type FilterableExpected = Omit<FilterableFacts, 'status' | 'reference'> & { names: readonly string[] };

/** Whether an expected payment matches each of a merchant's filters, of which the first is the operators'. It has no status. */
export function matchesExpected(filters: readonly MerchantFilter[], facts: FilterableExpected): boolean {
  return asksForExpected(filters) && filters.every((filter) => matchesNamed(filter, facts, facts.names));
}

export function asksForExpected([first]: readonly MerchantFilter[]): boolean {
  return first?.expected === true;
}

type Named = Pick<FilterableFacts, 'operation' | 'extra' | 'platform'>;

function matchesNamed(filter: MerchantFilter, facts: Named, names: readonly (string | null)[]): boolean {
  return (
    isAmong(filter.platforms, facts.platform ?? NO_PLATFORM) &&
    isAmong(filter.operations, facts.operation) &&
    (filter.reference_prefixes.length === 0 || names.some((name) => startsWithOne(filter.reference_prefixes, name))) &&
    startsWithOne(filter.extra_prefixes, facts.extra) &&
    matchesKeys(filter.extra_match, facts.extra)
  );
}

/** The filters of a merchant, each of which an event has to match: the operators', and the merchant's own within it. */
export function filtersOf(row: { filter: string; own_filter: string | null }): MerchantFilter[] {
  return [row.filter, row.own_filter].filter((text) => text !== null).map(parseFilter);
}

/** Whether an event matches each of these filters. */
export function matchesFilters(filters: readonly MerchantFilter[], facts: FilterableFacts): boolean {
  return filters.every((filter) => matchesFilter(filter, facts));
}

/** Whether each event that matches `inner` also matches `outer`; false where that is not plain to see. */
export function isWithin(inner: MerchantFilter, outer: MerchantFilter): boolean {
  const isInList = (one: readonly string[], other: readonly string[]): boolean =>
    other.length === 0 || (one.length > 0 && one.every((value) => other.includes(value)));
  const areLongerPrefixes = (one: string[], other: string[]): boolean =>
    other.length === 0 || (one.length > 0 && one.every((value) => other.some((prefix) => value.startsWith(prefix))));
  return (
    (outer.expected || !inner.expected) &&
    isInList(inner.platforms, outer.platforms) &&
    isInList(inner.operations, outer.operations) &&
    isInList(inner.statuses, outer.statuses) &&
    areLongerPrefixes(inner.reference_prefixes, outer.reference_prefixes) &&
    areLongerPrefixes(inner.extra_prefixes, outer.extra_prefixes) &&
    Object.entries(outer.extra_match).every(([key, value]) => sameText(inner.extra_match[key], value))
  );
}

/** Whether a filter takes a platform's events; false where it names none, and reference or `extra` decide which events. */
export function takesPlatform(filter: MerchantFilter, platform: string): boolean {
  if (filter.platforms.length > 0) return filter.platforms.includes(platform);
  const texts = [...filter.reference_prefixes, ...filter.extra_prefixes, ...Object.keys(filter.extra_match)];
  return texts.length === 0;
}

/** A filter for the audit: prefixes and values of `extra`, which may hold personal data, are only counted. Empty lists are left out. */
export type FilterSummary = Record<string, string[] | number>;

/** A filter for its merchant, with all its values. Empty lists are left out. */
export function listFilter({ expected, extra_match: match, ...lists }: MerchantFilter): FilterSummary {
  const all = {
    ...lists,
    expected: expected ? ['true'] : [],
    extra_match: Object.entries(match).map(([key, value]) => `${key}=${value}`),
  };
  return Object.fromEntries(Object.entries(all).filter(([, list]) => list.length > 0));
}

export function summarizeFilter({ platforms, operations, statuses, ...more }: MerchantFilter): FilterSummary {
  const { reference_prefixes, extra_prefixes, extra_match } = more;
  const counted = { reference_prefixes, extra_prefixes, extra_match };
  return Object.fromEntries([
    ...Object.entries({ platforms, operations, statuses }).filter(([, list]) => list.length > 0),
    ...Object.entries(counted).flatMap(([name, values]) => {
      const count = Object.keys(values).length;
      return count > 0 ? [[name, count] as const] : [];
    }),
  ]);
}

/** Parses a stored filter: lists that an older one lacks are empty. */
export function parseFilter(text: string): MerchantFilter {
  return completeFilter(JSON.parse(text) as FilterInput);
}

function isAmong(list: string[], value: string | null): boolean {
  return list.length === 0 || (value !== null && list.includes(value));
}

function startsWithOne(prefixes: string[], value: string | null): boolean {
  return prefixes.length === 0 || (value !== null && prefixes.some((prefix) => value.startsWith(prefix)));
}

function matchesKeys(wanted: MerchantFilter['extra_match'], extra: string | null): boolean {
  const keys = Object.keys(wanted);
  if (keys.length === 0) return true;
  const found = parseObject(extra);
  // "12" and 12 match: the type of a value in `extra` is rarely deliberate
  return found !== undefined && keys.every((key) => Object.hasOwn(found, key) && sameText(found[key], wanted[key]));
}

function sameText(value: unknown, wanted: unknown): boolean {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isPlain && String(value) === String(wanted);
}

function parseObject(text: string | null): Record<string, unknown> | undefined {
  if (!text?.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
