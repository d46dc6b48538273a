/** The first manifests of an installation and of a merchant: those of the days before it too. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { previewReplay } from '../../../src/callbacks/manage/replay.ts';
import { sendTests } from '../../../src/callbacks/manage/send-test.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { listManifestDays } from '../../../src/manifests/list-manifest-days.ts';
import { makeBackfilledManifests, makeDayManifests } from '../../../src/manifests/make-day-manifests.ts';
import { defaultEventsSince } from '../../../src/merchants/change-merchants.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
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

test('the days of a backfill have theirs once it ends, and the next tick finds what it would have found', async () => {
  await using env = await openCallbackEnvironment();
  const { context } = env;
  const { calendar, clock, db } = context;
  const endDays = async (count: number) => {
    const next = calendar.startOfDay(addDays(calendar.dayOf(clock.now()), count)).getTime();
    await env.timers.advance(next - clock.now().getTime() + 3_600_000);
  };
  const first = calendar.dayOf(clock.now());
  const facts = { url: URL_OF_NOBODY, eventsSince: defaultEventsSince(clock.now()) };
  const { merchant: other } = await env.addMerchant('', { ...facts, filter: { platforms: ['other'] } });
  await runBackfills(context);
  const late = await env.applyTransaction(['paid'], { platform: 'other' });
  await env.applyTransaction(['paid'], { platform: 'p' });
  await makeDayManifests(context);
  await endDays(2);
  const { merchant } = await env.addMerchant('', { ...facts, filter: { platforms: ['p'] } });
  const daysOf = async ({ seq }: { seq: number }) => {
    const rows = db.selectFrom('day_manifests').select('day').where('merchant_seq', '=', seq);
    return (await rows.orderBy('day').execute()).map(({ day }) => day);
  };
  await env.applyTransaction(['paid'], { platform: 'p' });
  await runBackfills(context, async () => (await daysOf(merchant)).length > 0, {
    onDone: (seq) => makeBackfilledManifests(context, seq),
  });
  expect([await daysOf(merchant), await daysOf(other)], 'its ended days, and nobody else').toEqual([[first], []]);
  late.shown.events.unshift({ status: 'refund', date_created: `${first} 23:59:59` });
  await env.appendEvents(late, []);
  await endDays(1);
  await makeDayManifests(context);
  expect(await daysOf(merchant), 'none of a day before it was there').toEqual([first, addDays(first, 2)]);
  expect(await daysOf(other)).toEqual([first, addDays(first, 2)]);

  // as if a process that knows later messages were faster
  const { seq: _, ...row } = await db.selectFrom('day_manifests').selectAll().limit(1).executeTakeFirstOrThrow();
  const due = { day: row.day, merchant_seq: row.merchant_seq };
  const newer = { ...row, revision: 99, callback_cut: row.callback_cut + 1_000, facts_hash: Buffer.alloc(32) };
  await db
    .insertInto('day_manifests')
    .values({ ...newer, callback_seq: null })
    .execute();
  await db.insertInto('due_day_manifests').values(due).execute();
  expect(await makeBackfilledManifests(context, row.merchant_seq)).toEqual({ made: 0 });
  expect(await db.selectFrom('due_day_manifests').selectAll().execute(), 'it stays due').toEqual([due]);
});

test.for([
  { name: 'the end of a backfill', make: makeBackfilledManifests },
  { name: 'the tick of the job', make: makeDayManifests },
])('$name makes no manifest of a day for an example that repeats a message', async ({ make }) => {
  await using env = await openCallbackEnvironment();
  const { context } = env;
  const { calendar, clock, db } = context;
  const first = calendar.dayOf(clock.now());
  await env.applyTransactions(3, ['paid'], { platform: 'other' });
  await makeDayManifests(context);
  await env.timers.advance(calendar.startOfDay(addDays(first, 2)).getTime() - clock.now().getTime() + 3_600_000);
  const { merchant } = await env.addMerchant('', { url: URL_OF_NOBODY, filter: { platforms: ['p'] } });
  await env.applyTransaction(['paid'], { platform: 'p' });
  await sendTests(context, merchant.id, ['pix.cashin.paid']);
  const repeated = db.selectFrom('callbacks').innerJoin('events', 'events.seq', 'event_seq').select('at_wall');
  const [row, ...others] = await repeated.where('callbacks.source', '=', 'test').execute();
  expect([row?.at_wall.slice(0, 10), others], 'a row number of another table').toEqual([first, []]);
  const range = { merchant: merchant.id, by: 'event', tests: 'only' } as const;
  const around = { from: new Date(clock.now().getTime() - 60_000), to: new Date(clock.now().getTime() + 60_000) };
  await db.updateTable('callbacks').set({ state: 'failed' }).where('source', '=', 'test').execute();
  expect(await previewReplay(context, { ...range, ...around }), 'its own time').toMatchObject({ count: 1 });
  await runBackfills(context);
  await make(context, merchant.seq);
  const days = await db.selectFrom('day_manifests').select('day').where('merchant_seq', '=', merchant.seq).execute();
  expect(days).toEqual([]);
  const shown = await listManifestDays(context, await findMerchant(db, merchant.id));
  expect(shown.find(({ day }) => day === first)?.awaited).toBe('no_messages');
});

test('a backfill goes on where the manifests fail', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('', { url: URL_OF_NOBODY });
  await runBackfills(env.context, undefined, { onDone: () => Promise.reject(new Error('no manifests')) });
  const states = await env.context.db.selectFrom('backfills').select('state').execute();
  expect(states).toEqual([{ state: 'done' }]);
});
