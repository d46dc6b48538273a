import { matchesPlatform } from '../../database/matches-platform.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { toWallTimeBounds } from '../plan/report-plan.ts';
import { AVAILABLE, HELD, platformAccountSegment } from './read-balances.ts';

/**
 * An empty report of a platform that was misspelt would be believed.
 * @throws ConfereError `invalid_request` for a platform that nothing is known of by these days, both included.
 */
export async function assertPlatform(db: Reader, platform: string, days: { from: Day; to: Day }): Promise<void> {
  const names = [AVAILABLE, HELD].map((root) => `${root}:${platformAccountSegment(platform)}`);
  const account = await db.selectFrom('accounts').select('seq').where('name', 'in', names).executeTakeFirst();
  if (account) return;
  // one that nothing was booked of can only have receipts that are still open, on the day when they were created
  const { start, end } = toWallTimeBounds(days.from, addDays(days.to, 1));
  const open = await db
    .selectFrom('transactions')
    .select('seq')
    .where('operation', '=', 'cashin')
    .where('created_wall', '>=', start)
    .where('created_wall', '<', end)
    .where(matchesPlatform('platform', platform))
    .limit(1)
    .executeTakeFirst();
  if (open) return;
  const fault = `nothing is known of a platform ${platform}`;
  throw new ConfereError('invalid_request', fault, { fields: { platform: [fault] } });
}
