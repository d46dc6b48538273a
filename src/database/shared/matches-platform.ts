import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { NO_PLATFORM } from '../../domain/platform.ts';

/**
 * SQL condition for the platform of a transaction; `none` matches transactions without one.
 * @param column the transaction's column. Entries, openings and accounts store `none` literally.
 */
export function matchesPlatform(column: string, platform: string): RawBuilder<SqlBool> {
  const ref = sql.ref(column);
  if (platform !== NO_PLATFORM) return sql<SqlBool>`${ref} = ${platform}`;
  return sql<SqlBool>`(${ref} IS NULL OR ${ref} = ${NO_PLATFORM})`;
}
