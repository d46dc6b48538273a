import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { matchesPlatform } from '../database/matches-platform.ts';
import { NO_PLATFORM } from '../domain/platform.ts';

/**
 * The platform that a row of `mismatches` concerns: its transaction's, else the one that its scope names (a stated balance, a
 * filtered list). NULL where it concerns all platforms.
 */
export const CONCERNED_PLATFORM = sql<string | null>`CASE
  WHEN mismatches.transaction_seq IS NOT NULL THEN
    (SELECT COALESCE(t.platform, ${sql.lit(NO_PLATFORM)}) FROM transactions t WHERE t.seq = mismatches.transaction_seq)
  WHEN mismatches.kind = 'balance_differs' THEN mismatches.scope
  WHEN mismatches.kind = 'list_unstable' AND mismatches.scope LIKE '% %' THEN SUBSTR(mismatches.scope, 12)
  END`;

/** The condition that a row of `mismatches` concerns a platform, alone or among all. */
export function concernsPlatform(platform: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`CASE
    WHEN mismatches.transaction_seq IS NOT NULL THEN EXISTS (SELECT 1 FROM transactions t
      WHERE t.seq = mismatches.transaction_seq AND ${matchesPlatform('t.platform', platform)})
    WHEN mismatches.kind = 'balance_differs' THEN mismatches.scope = ${platform}
    WHEN mismatches.kind = 'list_unstable' THEN mismatches.scope NOT LIKE '% %' OR SUBSTR(mismatches.scope, 12) = ${platform}
    ELSE TRUE END`;
}
