import type { Reader } from '../../database/reader.ts';
import { matchesPlatform } from '../../database/shared/matches-platform.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import type { ConfereError } from '../../domain/errors.ts';
import { refuseField } from '../../texts/refuse.ts';
import { toWallTimeBounds } from '../plan/report-plan.ts';
import { AVAILABLE, HELD, platformAccountSegment } from './read-accounts.ts';

/**
 * Checks that a platform has an account, or a receipt created in these days (both included; by default ever). Without the
 * check, an empty report of a misspelt platform would be believed.
 * @throws ConfereError `invalid_request` for an unknown platform.
 */
export async function assertPlatform(db: Reader, platform: string, days?: { from: Day; to: Day }): Promise<void> {
  const names = [AVAILABLE, HELD].map((root) => `${root}:${platformAccountSegment(platform)}`);
  const account = await db.selectFrom('accounts').select('seq').where('name', 'in', names).executeTakeFirst();
  if (account) return;
  // a platform without entries can only have open receipts, listed on the day of their creation
  const open = await db
    .selectFrom('transactions')
    .select('seq')
    .where('operation', '=', 'cashin')
    .$if(days !== undefined, (query) => {
      const { start, end } = toWallTimeBounds(days?.from ?? '', addDays(days?.to ?? '', 1));
      return query.where('created_wall', '>=', start).where('created_wall', '<', end);
    })
    .where(matchesPlatform('platform', platform))
    .limit(1)
    .executeTakeFirst();
  if (open) return;
  throw describeUnknownPlatform(platform);
}

/** The error for an unknown platform, and for one that the caller may not know. */
export function describeUnknownPlatform(platform: string): ConfereError {
  return refuseField('platform', 'platform_unreported', { platform });
}
