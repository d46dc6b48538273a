/** Orders whose changes send no messages, because no merchant that receives messages about orders has a filter that they fit. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { readRecipients } from '../../callbacks/queue/read-recipients.ts';
import type { Reader } from '../../database/reader.ts';
import {
  asksForExpected,
  type FilterableExpected,
  listConditions,
  type MerchantFilter,
  matchesExpected,
} from '../../merchants/match-filter.ts';

type Order = Omit<FilterableExpected, 'names'> & { number: string; references: readonly string[] };
/** A merchant with its filters. */
type Receiver = { seq: number; filters: readonly MerchantFilter[] };

/** Whether changes of an order send no messages by these filters of a merchant. */
export function isSilent(
  filters: readonly MerchantFilter[],
  { operation, platform, extra, number, references }: Order,
): boolean {
  return !matchesExpected(filters, { operation, platform, extra, names: [number, ...references] });
}

/** Whether changes of an order send a merchant no messages. */
export async function isSilentFor(db: Reader, merchantSeq: number, order: Order): Promise<boolean> {
  return (await readRecipients(db, merchantSeq)).every(({ filters }) => isSilent(filters, order));
}

/** The condition that changes of an order (`head`) send none of these merchants messages, as `isSilent` says; their filters have no keys of `extra`. */
export function sendsNone(receivers: readonly Receiver[]): RawBuilder<SqlBool> {
  const receives = receivers
    .filter(({ filters }) => asksForExpected(filters))
    .map(({ seq, filters }) => {
      const isIts = sql`(head.merchant_seq IS NULL OR head.merchant_seq = ${seq})`;
      return sql`(${sql.join([isIts, ...filters.flatMap(listFacts)], sql` AND `)})`;
    });
  // a platform may be NULL
  return receives.length === 0 ? sql`TRUE` : sql`(${sql.join(receives, sql` OR `)}) IS NOT TRUE`;
}

function listFacts({ reference_prefixes, extra_prefixes, ...filter }: MerchantFilter): RawBuilder<SqlBool>[] {
  const others = { ...filter, statuses: [], reference_prefixes: [], extra_prefixes: [] };
  const texts = [reference_prefixes.map(isNamed), extra_prefixes.map(hasExtra)].filter((list) => list.length > 0);
  return [
    ...listConditions(others, 'head', () => sql`TRUE`),
    ...texts.map((list) => sql<SqlBool>`(${sql.join(list, sql` OR `)})`),
  ];
}

function begins(column: string, prefix: string): RawBuilder<SqlBool> {
  const bytes = Buffer.from(prefix);
  return sql`LEFT(${sql.ref(column)}, ${sql.lit(bytes.length)}) = ${bytes}`;
}

function isNamed(prefix: string): RawBuilder<SqlBool> {
  return sql`(${begins('head.number', prefix)} OR EXISTS (SELECT 1 FROM expected_keys AS named
    WHERE named.version_seq = head.version_seq AND named.kind = 'reference' AND ${begins('named.value', prefix)}))`;
}

function hasExtra(prefix: string): RawBuilder<SqlBool> {
  return sql`EXISTS (SELECT 1 FROM expected_texts AS own
    WHERE own.version_seq = head.version_seq AND ${begins('own.extra', prefix)})`;
}
