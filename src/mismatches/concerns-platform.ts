import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { matchesPlatform } from '../database/shared/matches-platform.ts';
import { OF_EXPECTED_PAYMENTS } from '../domain/mismatch.ts';
import { NO_PLATFORM } from '../domain/platform.ts';

/** The condition that a row of `mismatches` is about an order: its scope is the order's id. */
export const IS_OF_ORDER = sql`mismatches.kind IN (${sql.join(OF_EXPECTED_PAYMENTS.map((kind) => sql.lit(kind)))})`;
/** NULL for an expected payment that names none: it may be paid on any. */
const PLATFORM_OF_ORDER = sql`(SELECT e.platform FROM expected_payments e WHERE e.id = mismatches.scope)`;

/**
 * The platform that a row of `mismatches` concerns: its transaction's or its expected payment's, else the one that its scope names (a
 * stated balance, a filtered list, a day's commissions). NULL where it concerns all platforms.
 */
export const CONCERNED_PLATFORM = sql<string | null>`CASE
  WHEN mismatches.transaction_seq IS NOT NULL THEN
    (SELECT COALESCE(t.platform, ${sql.lit(NO_PLATFORM)}) FROM transactions t WHERE t.seq = mismatches.transaction_seq)
  WHEN ${IS_OF_ORDER} THEN ${PLATFORM_OF_ORDER}
  WHEN mismatches.kind = 'balance_differs' THEN mismatches.scope
  WHEN mismatches.kind IN ('list_unstable', 'commission_not_agreed') AND mismatches.scope LIKE '% %' THEN SUBSTR(mismatches.scope, 12)
  END`;

/** The condition that a row of `mismatches` concerns a platform, alone or among all. */
export function concernsPlatform(platform: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`CASE
    WHEN mismatches.transaction_seq IS NOT NULL THEN EXISTS (SELECT 1 FROM transactions t
      WHERE t.seq = mismatches.transaction_seq AND ${matchesPlatform('t.platform', platform)})
    WHEN ${IS_OF_ORDER} THEN COALESCE(${PLATFORM_OF_ORDER}, ${platform}) = ${platform}
    WHEN mismatches.kind = 'balance_differs' THEN mismatches.scope = ${platform}
    WHEN mismatches.kind IN ('list_unstable', 'commission_not_agreed') THEN mismatches.scope NOT LIKE '% %' OR SUBSTR(mismatches.scope, 12) = ${platform}
    ELSE TRUE END`;
}
