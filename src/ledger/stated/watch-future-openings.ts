/**
 * Openings, adjustments and statements dated in the future, which earlier versions accepted. Under a future opening
 * nothing of its platform is booked until that day. Only a person knows which day was meant, so nothing is changed; the
 * opening is alerted until its day.
 */
import { syncAlerts } from '../../alerts/raise-alerts.ts';
import type { Context } from '../../context.ts';
import type { Day } from '../../domain/calendar.ts';
import type { Message } from '../../domain/errors.ts';
import { maskPlatform } from '../../domain/person/mask-person.ts';
import { summarize } from '../../texts/alerts/describe-alert.ts';
import { failure, message } from '../../texts/messages.ts';

const SHOWN_MAX = 5;

type FutureOpening = { id: string; platform: string; day: Day };

/** Raises an alert for each opening in force that is dated in the future, and ends alerts that no longer apply. */
export async function watchFutureOpenings(context: Context): Promise<void> {
  const alerts = (await listFutureOpenings(context)).map(({ id, day, platform }) => {
    const said = summarize('opening_to_come', { opening: id, days: [day], platform: maskPlatform(platform) });
    return { severity: 'critical' as const, scope: id, ...said };
  });
  await syncAlerts(context, 'opening_to_come', alerts);
}

/**
 * Checks dates for `confere doctor`.
 * @throws ConfereError `conflict` that names openings, adjustments and statements dated in the future.
 */
export async function checkFutureDates(context: Context): Promise<Message[]> {
  const { db, calendar, clock } = context;
  const today = calendar.dayOf(clock.now());
  const openings = await listFutureOpenings(context);
  const adjustments = await db
    .selectFrom('adjustments')
    .leftJoin('adjustments as back', 'back.reverses_seq', 'adjustments.seq')
    .select(['adjustments.id', 'adjustments.day'])
    .where('adjustments.day', '>', today)
    .where('adjustments.reverses_seq', 'is', null)
    .where('back.seq', 'is', null)
    .limit(SHOWN_MAX)
    .execute();
  const statements = await db
    .selectFrom('statements')
    .select(['id', 'at'])
    .where('at', '>', clock.now())
    .limit(SHOWN_MAX)
    .execute();
  const faults = [
    ...openings.slice(0, SHOWN_MAX).map((opening) => message('doctor.opening_to_come', opening)),
    ...adjustments.map((adjustment) => message('doctor.adjustment_to_come', adjustment)),
    ...statements.map(({ id, at }) => message('doctor.balance_to_come', { id, at: at.toISOString() })),
  ];
  if (faults.length > 0) throw failure('conflict', faults);
  return [message('doctor.nothing_to_come')];
}

async function listFutureOpenings({ db, calendar, clock }: Context): Promise<FutureOpening[]> {
  return await db
    .selectFrom('openings')
    .select(['id', 'platform', 'day'])
    .where('in_force', '=', 1)
    .where('day', '>', calendar.dayOf(clock.now()))
    .orderBy('seq')
    .execute();
}
