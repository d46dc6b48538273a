/** A new installation's first manifests: the first tick of the job makes those of the days before it too. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import { makeDayManifests } from '../../../src/manifests/make-day-manifests.ts';
import { defaultEventsSince } from '../../../src/merchants/change-merchants.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const URL_OF_NOBODY = 'http://127.0.0.1:9/';

test.for([
  { name: 'the days of a backfill have theirs after the first tick of a new installation', isUpgrade: false, days: 2 },
  { name: 'the first tick after an upgrade makes none: processes before it cannot send one', isUpgrade: true, days: 0 },
])('$name', async ({ isUpgrade, days }) => {
  await using env = await openCallbackEnvironment();
  const { context } = env;
  const { calendar, clock, db } = context;
  if (isUpgrade) await sql`UPDATE migrations SET version = '0.1.0' WHERE name < '0094'`.execute(db);
  const eventsSince = defaultEventsSince(clock.now());
  await env.applyTransaction(['paid'], { platform: 'p' });
  const first = calendar.dayOf(clock.now());
  await env.timers.advance(calendar.startOfDay(addDays(first, 1)).getTime() - clock.now().getTime() + 3_600_000);
  await env.addMerchant('', { url: URL_OF_NOBODY, filter: { platforms: ['p'] }, eventsSince });
  await runBackfills(context);
  await env.timers.advance(calendar.startOfDay(addDays(first, 2)).getTime() - clock.now().getTime() + 3_600_000);
  await makeDayManifests(context);
  const made = await db.selectFrom('day_manifests').select('day').orderBy('day').execute();
  expect(made.map(({ day }) => day)).toEqual([first, addDays(first, 1)].slice(0, days));
});
