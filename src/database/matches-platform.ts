import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { NO_PLATFORM } from '../domain/platform.ts';

/**
 * The condition that a transaction's platform is this one; `none` is what has no platform.
 * @param column the transaction's column: an entry, an opening or an account names `none` itself.
 */
export function matchesPlatform(column: string, platform: string): RawBuilder<SqlBool> {
  const ref = sql.ref(column);
  if (platform !== NO_PLATFORM) return sql<SqlBool>`${ref} = ${platform}`;
  return sql<SqlBool>`(${ref} IS NULL OR ${ref} = ${NO_PLATFORM})`;
}
