/** Checks on what a person states: no future times, none before PIX, no mistyped platforms. */
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { matchesPlatform } from '../../database/shared/matches-platform.ts';
import { type Day, isDay, PIX_DAY_MIN } from '../../domain/calendar.ts';
import { isPlatform, PLATFORM_CHARS_MAX } from '../../domain/platform.ts';
import { refuseField } from '../../texts/refuse.ts';

/** Tolerated clock difference of a client that states a balance of this moment. */
const CLOCK_AHEAD_MS_MAX = 5_000;

/** @throws ConfereError `invalid_request` for no day, one that has not begun at the provider, or one before PIX. */
export function checkDayBegun({ calendar, clock }: Context, day: Day): void {
  const today = calendar.dayOf(clock.now());
  if (!isDay(day)) throw refuseField('day', 'day_wrong');
  if (day < PIX_DAY_MIN) throw refuseField('day', 'before_pix', { day: PIX_DAY_MIN });
  if (day > today) throw refuseField('day', 'day_to_come', { today });
}

/** @throws ConfereError `invalid_request` for an instant to come, or before PIX. */
export function checkInstantPassed({ calendar, clock }: Context, at: Date): void {
  const now = clock.now();
  if (calendar.dayOf(at) < PIX_DAY_MIN) throw refuseField('at', 'before_pix', { day: PIX_DAY_MIN });
  if (at.getTime() > now.getTime() + CLOCK_AHEAD_MS_MAX)
    throw refuseField('at', 'instant_to_come', { now: now.toISOString() });
}

/**
 * Rejects a mistyped platform: an opening or a balance for it would belong to no books.
 * @throws ConfereError `invalid_request` for a platform that no transaction shows, once there are transactions.
 */
export async function checkPlatformKnown(
  db: Reader,
  { platform, newPlatform = false }: { platform: string; newPlatform?: boolean | undefined },
): Promise<void> {
  if (!isPlatform(platform)) throw refuseField('platform', 'platform_wrong', { n: PLATFORM_CHARS_MAX });
  if (newPlatform) return;
  const shown = await db
    .selectFrom('transactions')
    .select('seq')
    .where(matchesPlatform('platform', platform))
    .limit(1)
    .executeTakeFirst();
  if (shown) return;
  const any = await db.selectFrom('transactions').select('seq').limit(1).executeTakeFirst();
  if (!any) return;
  throw refuseField('platform', 'platform_unknown', { platform });
}
