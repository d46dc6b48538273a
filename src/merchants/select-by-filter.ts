import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { matchesPlatform } from '../database/shared/matches-platform.ts';
import type { MerchantFilter } from './match-filter.ts';

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
