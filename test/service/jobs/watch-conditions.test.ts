import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { watch } from '../../../jobs/watch.ts';
import { watchDisks } from '../../../jobs/watch-disks.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { syncAlerts } from '../../../src/alerts/raise-alerts.ts';
import type { Context } from '../../../src/context.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { askAddressChange, decideAddressChange } from '../../../src/portal/address-changes.ts';
import { recordHeartbeat } from '../../../src/runtime/heartbeat.ts';
import { describeAlert } from '../../../src/texts/alerts/describe-alert.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { readRows } from '../../support/read-rows.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
let environment: TestEnvironment;
let context: Context;

beforeEach(async () => {
  environment = await openEnvironment();
  context = environment.context;
});
afterEach(() => environment[Symbol.asyncDispose]());

/** No tick of the timetable is due within an hour of noon: an overdue job explains what it did not do. */
async function advanceToNoon(): Promise<void> {
  const { calendar, clock } = context;
  const midnight = calendar.startOfDay(addDays(calendar.dayOf(clock.now()), 1)).getTime();
  await environment.timers.advance(midnight + 12 * HOUR_MS - clock.now().getTime());
}

const ago = (ms: number): Date => new Date(context.clock.now().getTime() - ms);

/** Runs the watch. @returns the alerts that fire, without those about jobs: no timetable runs here. */
async function readFiring() {
  await watch(context);
  return await context.db
    .selectFrom('alerts')
    .select(['name', 'scope', 'severity', 'summary'])
    .where('firing_scope', 'is not', null)
    .where('name', 'not like', 'job\\_%')
    .orderBy('seq')
    .execute();
}

async function insertWebhook(state: string, receivedAt: Date): Promise<number> {
  const { insertId } = await context.db
    .insertInto('webhooks')
    .values({
      ...{ hash: randomBytes(32), body: Buffer.from('{}'), received_at: receivedAt, source_address: '127.0.0.1' },
      ...{ headers: '{}', state },
    })
    .executeTakeFirstOrThrow();
  return Number(insertId);
}

test('inbox_behind: a webhook that no worker splits, and an item that is due and not fetched', async () => {
  const webhook = await insertWebhook('received', ago(9 * MINUTE_MS));
  expect(await readFiring()).toEqual([]);
  await environment.timers.advance(2 * MINUTE_MS);
  expect(await readFiring()).toMatchObject([{ name: 'inbox_behind', scope: 'inbox', severity: 'critical' }]);
  await context.db.updateTable('webhooks').set({ state: 'pending' }).where('seq', '=', webhook).execute();
  const item = { webhook_seq: webhook, position: 0, received_at: ago(HOUR_MS), state: 'pending' };
  await context.db
    .insertInto('webhook_items')
    .values({ ...item, next_look_at: ago(11 * MINUTE_MS) })
    .execute();
  expect(await readFiring()).toMatchObject([{ name: 'inbox_behind' }]);
  await context.db
    .updateTable('webhook_items')
    .set({ next_look_at: ago(-MINUTE_MS) })
    .execute();
  expect(await readFiring(), 'its first fetch failed, and is deferred').toMatchObject([{ name: 'inbox_behind' }]);
  await context.db.updateTable('webhook_items').set({ looks: 1 }).execute();
  expect(await readFiring(), 'it was fetched, and waits for its next fetch').toEqual([]);
});

/** Inserts a merchant. @returns its number. */
async function insertMerchant(id: string, more: { rate?: number; failing_since?: Date } = {}): Promise<number> {
  const at = ago(HOUR_MS);
  const { insertId } = await context.db
    .insertInto('merchants')
    .values({ id, name: id, url: 'https://shop.example', filter: '{}', events_since: at, created_at: at, ...more })
    .executeTakeFirstOrThrow();
  return Number(insertId);
}

async function insertCallback(merchant: number, state: string, attemptedAt: Date): Promise<number> {
  const { insertId } = await context.db
    .insertInto('callbacks')
    .values({
      ...{
        webhook_id: randomUUID(),
        merchant_seq: merchant,
        transaction_seq: 1,
        event_seq: 1,
        type: 'pix.cashin.paid',
      },
      ...{ source: 'webhook', state, attempts: 1, created_at: attemptedAt },
      next_attempt_at: state === 'pending' ? attemptedAt : null,
    })
    .executeTakeFirstOrThrow();
  const seq = Number(insertId);
  await context.db
    .insertInto('callback_attempts')
    .values({ callback_seq: seq, number: 1, started_at: attemptedAt, duration_ms: 1, request_headers: '{}' })
    .execute();
  return seq;
}

test('callbacks_behind: a callback that is due and not sent, unless its merchant fails or has a rate', async () => {
  const old = ago(11 * MINUTE_MS);
  await insertCallback(await insertMerchant('me_rated', { rate: 1 }), 'pending', old);
  await insertCallback(await insertMerchant('me_failing', { failing_since: old }), 'pending', old);
  const merchant = await insertMerchant('me_well');
  await insertCallback(merchant, 'pending', ago(-MINUTE_MS));
  expect(await readFiring()).toEqual([]);
  const seq = await insertCallback(merchant, 'pending', old);
  expect(await readFiring()).toMatchObject([
    { name: 'callbacks_behind', severity: 'critical', summary: expect.stringContaining('1 callbacks are due') },
  ]);
  await context.db.updateTable('callbacks').set({ state: 'delivered' }).where('seq', '=', seq).execute();
  expect(await readFiring()).toEqual([]);
});

test('expected_behind: work that no follower decides, and an order whose end is over', async () => {
  const work = { expected_seq: 1, due_at: ago(-MINUTE_MS) };
  await context.db
    .insertInto('expected_work')
    .values({ ...work, created_at: ago(9 * MINUTE_MS) })
    .execute();
  expect(await readFiring()).toEqual([]);
  await environment.timers.advance(2 * MINUTE_MS);
  expect(await readFiring()).toMatchObject([{ name: 'expected_behind', scope: 'expected', severity: 'high' }]);
  await context.db.deleteFrom('expected_work').execute();
  expect(await readFiring()).toEqual([]);
  const facts = expectedFactsSchema.parse({ operation: 'cashin', amount: '1.00', due_day: '2026-01-01' });
  await putExpected(context, { arrivals: [{ source: 'shop', number: '1', facts }], actor: 'test' });
  await decideAll(context);
  await context.db
    .updateTable('expected_payments')
    .set({ look_at: ago(11 * MINUTE_MS) })
    .execute();
  expect(await readFiring()).toMatchObject([{ name: 'expected_behind' }]);
  await decideAll(context);
  expect(await readFiring()).toEqual([]);
});

test('callback_failed: one alert a merchant counts what failed in a day, and ends when these are sent again', async () => {
  const [first, second] = [await insertMerchant('me_one'), await insertMerchant('me_two')];
  await insertCallback(first, 'failed', ago(25 * HOUR_MS));
  expect(await readFiring()).toEqual([]);
  await insertCallback(first, 'failed', ago(HOUR_MS));
  await insertCallback(first, 'failed', ago(HOUR_MS));
  await insertCallback(second, 'failed', ago(23 * HOUR_MS));
  expect(await readFiring()).toMatchObject([
    { name: 'callback_failed', scope: 'me_one', severity: 'high', summary: expect.stringContaining('accepted 2 ') },
    { name: 'callback_failed', scope: 'me_two' },
  ]);
  await context.db.updateTable('callbacks').set({ state: 'delivered' }).where('merchant_seq', '=', first).execute();
  expect(await readFiring()).toMatchObject([{ scope: 'me_two' }]);
  await environment.timers.advance(2 * HOUR_MS);
  expect(await readFiring()).toEqual([]);
});

async function insertRun(createdAt: Date, window?: { day: string; state: string }): Promise<void> {
  const day = context.calendar.dayOf(createdAt);
  const { insertId } = await context.db
    .insertInto('runs')
    .values({
      ...{ id: `run_${randomUUID()}`, trigger: 'reconcile_recent', state: 'incomplete', created_by: 'confere' },
      ...{ from_day: addDays(day, -1), to_day: day, created_at: createdAt },
    })
    .executeTakeFirstOrThrow();
  if (!window) return;
  await context.db
    .insertInto('run_windows')
    .values({
      ...{ run_seq: Number(insertId), from_day: window.day, to_day: window.day, state: window.state },
      asked_at: new Date(createdAt.getTime() + 1000),
    })
    .execute();
}

test('no_complete_run: runs of an hour that read today incompletely; the next complete one ends it, midnight does not', async () => {
  const today = context.calendar.dayOf(context.clock.now());
  await insertRun(ago(70 * MINUTE_MS), { day: context.calendar.dayOf(ago(70 * MINUTE_MS)), state: 'complete' });
  await insertRun(ago(50 * MINUTE_MS), { day: today, state: 'incomplete' });
  expect(await readFiring()).toEqual([]);
  await environment.timers.advance(11 * MINUTE_MS);
  expect(await readFiring()).toMatchObject([{ name: 'no_complete_run', scope: 'today', severity: 'critical' }]);
  await environment.timers.advance(24 * HOUR_MS);
  // yesterday, read completely after it ended, says nothing about today
  await insertRun(ago(0), { day: today, state: 'complete' });
  expect(await readFiring()).toMatchObject([{ name: 'no_complete_run' }]);
  await insertRun(ago(0), { day: context.calendar.dayOf(context.clock.now()), state: 'complete' });
  expect(await readFiring()).toEqual([]);
});

test('report_missing: a day without a report an hour after the tick that should have made it', async () => {
  const { db, calendar } = context;
  await advanceToNoon();
  const tick = { job: 'daily_report', holder: 'gone' };
  const dueAt = ago(30 * MINUTE_MS);
  await db
    .insertInto('job_ticks')
    .values({ ...tick, due_at: dueAt, lease_until: dueAt, finished_at: dueAt })
    .execute();
  expect(await readFiring()).toEqual([]);
  await environment.timers.advance(31 * MINUTE_MS);
  const missing = addDays(calendar.dayOf(dueAt), -1);
  expect(await readFiring()).toMatchObject([
    { name: 'report_missing', scope: 'reports', severity: 'high', summary: expect.stringContaining(missing) },
  ]);
  const report = {
    day: missing,
    revision: 1,
    made_at: ago(0),
    proven: 0,
    digest: Buffer.alloc(32),
    sha256: Buffer.alloc(32),
  };
  const cut = { files: '{}', cut_entry_seq: 0, cut_event_seq: 0, cut_mismatch_change_seq: 0 };
  const checked = { checked_entry_seq: 0, checked_event_seq: 0, locale: 'pt-BR', full_documents: 0, version: '1' };
  await db
    .insertInto('reports')
    .values({ ...report, ...cut, ...checked, state: 'partial' })
    .execute();
  expect(await readFiring(), 'a partial report does not count').toHaveLength(1);
  await db.updateTable('reports').set({ state: 'provisional' }).execute();
  expect(await readFiring()).toEqual([]);
});

test('a report that is missing because its job failed is one alert, and no_complete_run waits for the alert of its cause', async () => {
  const { db } = context;
  await advanceToNoon();
  const dueAt = ago(61 * MINUTE_MS);
  await db
    .insertInto('job_ticks')
    .values({
      job: 'daily_report',
      holder: 'gone',
      error: 'failed',
      due_at: dueAt,
      lease_until: dueAt,
      finished_at: dueAt,
    })
    .execute();
  expect(await readFiring()).toEqual([]);
  const failed = db.selectFrom('alerts').select('name').where('firing_scope', '=', 'job_failed daily_report');
  expect(await failed.execute()).toHaveLength(1);
  await db.updateTable('job_ticks').set({ error: null }).execute();
  expect(await readFiring(), 'the job is well, and the day has no report').toMatchObject([{ name: 'report_missing' }]);
  await db.updateTable('job_ticks').set({ error: 'failed' }).execute();
  expect(await readFiring(), 'one that fires goes on').toMatchObject([{ name: 'report_missing' }]);

  const cause = { name: 'provider_unauthorized', scope: 'provider' } as const;
  const summary = 'provider_unauthorized: the key is refused';
  await syncAlerts(context, cause.name, [{ ...cause, severity: 'critical', summary }]);
  await insertRun(ago(61 * MINUTE_MS));
  expect(await readFiring()).toMatchObject([{ name: 'report_missing' }, cause]);
  await syncAlerts(context, cause.name, []);
  expect(await readFiring()).toMatchObject([{ name: 'report_missing' }, { name: 'no_complete_run' }]);
});

test('clock_differs: a process whose clock is more than two seconds off the database’s, ahead or behind', async () => {
  const ahead = { ...context, timers: { ...context.timers, now: () => context.timers.now() + 10 * MINUTE_MS } };
  await recordHeartbeat(ahead, 'inbox');
  expect(await readFiring()).toMatchObject([
    { name: 'clock_differs', severity: 'high', summary: expect.stringMatching(/is 600 s ahead of the database$/) },
  ]);
  await recordHeartbeat(
    { ...context, timers: { ...context.timers, now: () => context.timers.now() - 5_000 } },
    'inbox',
  );
  expect((await readFiring())[0]?.summary).toMatch(/is 5 s behind the database$/);
  await recordHeartbeat(context, 'inbox');
  expect(await readFiring()).toEqual([]);
});

test('disk_full: less than the limit is free under DATA_DIR or SPOOL_DIR of a process', async () => {
  const readAlert = () => readRows(context.db, 'alerts', ['severity', 'summary', 'ended_at'], { name: 'disk_full' });
  const start = async (diskFreeBytes: number) => {
    const stopping = new AbortController();
    const replica = await environment.replica({ DATA_DIR: '/tmp', SPOOL_DIR: '/tmp' });
    replica.config.LIMITS.diskFreeBytes = diskFreeBytes;
    const ended = watchDisks({ ...replica, signal: stopping.signal });
    return async () => {
      stopping.abort();
      await ended;
    };
  };
  const stopFull = await start(Number.MAX_SAFE_INTEGER);
  await eventually('the alert', async () => (await readAlert()).length > 0);
  expect(await readAlert()).toMatchObject([
    {
      severity: 'critical',
      ended_at: null,
      summary: expect.stringMatching(/DATA_DIR of .* MiB free, SPOOL_DIR of .* MiB free/),
    },
  ]);
  await stopFull();
  const stop = await start(1);
  await eventually('its end, once the measurements of the process that ended are old', async () => {
    await environment.timers.advance(MINUTE_MS);
    return (await readAlert())[0]?.ended_at;
  });
  await stop();
});

test('webhook_loss_rate: more than 5 % of at least 20 changes of six hours came without their webhook', async () => {
  const insertOwed = async (seq: number, announced: boolean, eventAt = ago(HOUR_MS)) => {
    const settled = { settled_at: ago(MINUTE_MS), announced_at: announced ? eventAt : null };
    const owed = { event_seq: seq, transaction_seq: seq, event_at: eventAt, due_at: eventAt, ...settled };
    await context.db.insertInto('owed_webhooks').values(owed).execute();
  };
  await insertOwed(1, false);
  for (let seq = 2; seq < 20; seq++) await insertOwed(seq, true);
  await insertOwed(100, false, ago(8 * HOUR_MS));
  expect(await readFiring(), 'too few changes').toEqual([]);
  await insertOwed(20, true);
  expect(await readFiring(), 'one of twenty is 5 %').toEqual([]);
  await insertOwed(21, false);
  expect(await readFiring()).toMatchObject([
    { name: 'webhook_loss_rate', severity: 'high', summary: expect.stringContaining(': 2 of 21 changes since ') },
  ]);
  await environment.timers.advance(8 * HOUR_MS);
  expect(await readFiring()).toEqual([]);
});

test('address_change_waits: a change that no mailed link confirms, until an admin decides it', async () => {
  const { merchant } = await createMerchant(context, { name: 'Loja', url: 'https://loja.example/pix' });
  const { id: tokenId } = await createToken(context, { name: 'Ana', role: 'merchant', merchant: merchant.id });
  const ask = (kind: 'url' | 'email', value: string) =>
    askAddressChange(context, merchant.id, { kind, value, tokenId });
  const { id } = await ask('url', 'https://new.example/pix');
  await environment.timers.advance(2 * MINUTE_MS);
  const other = await ask('email', 'ti@new.example');
  const waits = { name: 'address_change_waits', scope: merchant.id, severity: 'medium' };
  expect(await readFiring()).toMatchObject([waits]);
  const { path } = describeAlert(context.calendar, 'pt-BR', {
    ...{ name: waits.name, severity: 'medium', summary: '', mismatchId: null, raisedAt: ago(0), endedAt: null },
    facts: { merchant: merchant.id },
  });
  expect(path).toBe(`/merchants/${merchant.id}`);
  await decideAddressChange(context, merchant.id, { id, decision: 'confirm' });
  expect(await readFiring()).toMatchObject([waits]);
  await decideAddressChange(context, merchant.id, { id: other.id, decision: 'refuse' });
  expect(await readFiring()).toEqual([]);
});
