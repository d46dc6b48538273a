import { afterAll, beforeEach, expect, test } from 'vitest';
import { startJobScheduler } from '../../../jobs/main.ts';
import type { Context } from '../../../src/context.ts';
import { JOB_NAMES } from '../../../src/timetable/list-jobs.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';

/** A Friday, 10:33 in São Paulo: the newest due time of each job that makes missed ticks up. */
const NOW = '2026-01-30T13:33:20Z';
const NEWEST = {
  reconcile_recent: '2026-01-30T13:30:00.000Z',
  reconcile_week: '2026-01-30T13:07:00.000Z',
  reconcile_month: '2026-01-30T05:20:00.000Z',
  reconcile_counts: '2026-01-30T06:10:00.000Z',
  reconcile_quarter: '2026-01-25T06:40:00.000Z',
  reconcile_open: '2026-01-30T06:30:00.000Z',
  daily_report: '2026-01-30T09:00:00.000Z',
  day_manifests: '2026-01-30T09:30:00.000Z',
  check_books: '2026-01-30T07:10:00.000Z',
  check_all_books: '2026-01-24T08:20:00.000Z',
  manifest: '2026-01-30T03:30:00.000Z',
  retention: '2026-01-30T07:50:00.000Z',
};
const LONG_AGO = '2026-01-05T12:00:00.000Z';
const SEARCH_MS = 20_000;

let environment: TestEnvironment | undefined;
let replicas: [Context, Context];
let now: Date;

/** Two replicas with a clock that the test sets. The timetable's own clock, the machine's, fires none of these ticks. */
beforeEach(async () => {
  await environment?.[Symbol.asyncDispose]();
  environment = await openEnvironment();
  now = new Date(NOW);
  const clock = { ...environment.context.clock, now: () => now };
  const { context } = environment;
  replicas = [
    { ...context, clock },
    { ...context, clock, holder: 'second' },
  ];
  await setFirstStart(LONG_AGO);
});
afterAll(() => environment?.[Symbol.asyncDispose]());

const db = () => replicas[0].db;

async function setFirstStart(at: string): Promise<void> {
  await db()
    .updateTable('settings')
    .set({ value: Buffer.from(at) })
    .where('name', '=', 'webhooks_since')
    .execute();
}

async function addTick(
  job: string,
  dueAt: string,
  more: { leaseUntil?: Date; finished?: boolean } = {},
): Promise<void> {
  const { leaseUntil = new Date(dueAt), finished = true } = more;
  const tick = { job, due_at: new Date(dueAt), holder: 'other', lease_until: leaseUntil };
  await db()
    .insertInto('job_ticks')
    .values({ ...tick, finished_at: finished ? new Date(dueAt) : null })
    .execute();
}

async function finishedTicks(job: string): Promise<string[]> {
  const rows = await db()
    .selectFrom('job_ticks')
    .select(['due_at', 'tries', 'finished_at', 'error'])
    .where('job', '=', job)
    .orderBy('due_at')
    .execute();
  return rows.filter((row) => row.finished_at && row.tries === 1 && !row.error).map((row) => row.due_at.toISOString());
}

async function startBoth(): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  for (const context of replicas) stack.use(startJobScheduler(context));
  return stack;
}

test('after a downtime each job but the watch makes up its newest missed tick, once over all replicas', async () => {
  for (const job of JOB_NAMES) await addTick(job, LONG_AGO);
  await using _ = await startBoth();
  for (const [job, newest] of Object.entries(NEWEST)) {
    await eventually(async () => (await finishedTicks(job)).length > 1);
    expect(await finishedTicks(job), job).toEqual([LONG_AGO, newest]);
  }
  expect([...Object.keys(NEWEST), 'watch'].sort()).toEqual([...JOB_NAMES].sort());
});

test('a job that never ran makes up a tick that was due since the first start', async () => {
  await setFirstStart('2026-01-30T04:00:00Z');
  await using _ = await startBoth();
  await eventually(async () => (await finishedTicks('daily_report')).length > 0);
  expect(await finishedTicks('daily_report')).toEqual([NEWEST.daily_report]);
  await environment?.timers.advance(SEARCH_MS);
  expect(await finishedTicks('manifest')).toEqual([]);
  expect(await finishedTicks('reconcile_quarter')).toEqual([]);
});

test('a tick that no replica ran although they were up is made up within 20 seconds', async () => {
  for (const job of JOB_NAMES) await addTick(job, NOW);
  await using _ = await startBoth();
  now = new Date('2026-01-31T03:31:00Z');
  await environment?.timers.advance(SEARCH_MS);
  await eventually(async () => (await finishedTicks('manifest')).length > 1);
  expect((await finishedTicks('manifest')).at(-1)).toBe('2026-01-31T03:30:00.000Z');
});

test('a tick that was skipped because the one before was running is made up once that has ended', async () => {
  for (const job of JOB_NAMES.filter((one) => one !== 'reconcile_week')) await addTick(job, NOW);
  const lease = { leaseUntil: new Date('2026-01-30T14:00:00Z'), finished: false };
  await addTick('reconcile_week', '2026-01-30T12:07:00.000Z', lease);
  await using _ = await startBoth();
  await environment?.timers.advance(SEARCH_MS);
  expect(await finishedTicks('reconcile_week')).toEqual([]);
  await db().updateTable('job_ticks').set({ finished_at: now }).where('finished_at', 'is', null).execute();
  await environment?.timers.advance(SEARCH_MS);
  await eventually(async () => (await finishedTicks('reconcile_week')).length > 1);
  expect(await finishedTicks('reconcile_week')).toEqual(['2026-01-30T12:07:00.000Z', NEWEST.reconcile_week]);
});
