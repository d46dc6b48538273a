import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { findRun, type PresentedRun } from '../../../src/reconciliation/numbers/read-runs.ts';
import { claimRun, holdRunLease } from '../../../src/reconciliation/runs/claim-run.ts';
import { executeRun, processRuns } from '../../../src/reconciliation/runs/process-runs.ts';
import { resumeRun, startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { leaseWindow, releaseWindow } from '../../../src/reconciliation/windows/lease-window.ts';
import type { RunRef } from '../../../src/reconciliation/windows/run-ref.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { watchDeletes } from '../../support/failing-database.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { openServedEnvironment } from '../../support/open-served-environment.ts';
import { numRuns } from '../../support/property.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { API_KEY, SECRET_KEY } from '../../support/start-serve.ts';
import { type SeenRequest, TestProvider } from '../../support/test-provider.ts';

const ROWS_A_DAY = numRuns(120, 350);
/** The pages of rows, and the one past the end. */
const REQUESTS_A_DAY = Math.ceil(ROWS_A_DAY / 100) + 1;
const ANSWER_MS = 30;
const DAYS = [20, 19, 18, 17, 16, 15, 14, 13].map(dayAgo);
const [FIRST, THIRD, SIXTH, LAST] = [DAYS[0], DAYS[2], DAYS[5], DAYS[7]] as [string, string, string, string];

/** Each reading of a day is one clean pass. A second one that begins before the first has ended counts as overlapping. */
function countReadings(seen: SeenRequest[], day: string): { readings: number; overlapping: number } {
  const ofDay = seen.filter((one) => one.query.get('initial_date') === day && one.query.get('final_date') === day);
  const begun = ofDay.flatMap((one, index) => (one.page === 1 ? [index] : []));
  const overlapping = begun.filter((index, nth) => index !== nth * REQUESTS_A_DAY).length;
  return { readings: ofDay.length / REQUESTS_A_DAY, overlapping };
}

test('two replicas and a command run over the same days at once: no day is read by two of them', async () => {
  await using provider = await new TestProvider(API_KEY).listen();
  provider.add(...DAYS.flatMap((day) => makeDay(day, ROWS_A_DAY)));
  const database = await createTestDatabase();
  const serve = () => openServedEnvironment({ providerUrl: provider.url, env: { SECRET_KEY }, on: database });
  await using one = await serve();
  await using other = await serve();
  const start = (api: typeof one.api, from: string, to: string) =>
    api.call<PresentedRun>('POST', '/reconciliations', { from, to });
  const ended = async ({ id }: PresentedRun) =>
    await eventually(async () => {
      const run = await one.api.call<PresentedRun>('GET', `/reconciliations/${id}`);
      return ['queued', 'running'].includes(run.state) ? undefined : run;
    });
  // the bounds are learnt: from here on a window is a day
  expect(await ended(await start(one.api, FIRST, LAST))).toMatchObject({ state: 'complete' });
  provider.requests = [];
  const allHere = Promise.withResolvers<void>();
  provider.switches.beforeResponse = async () => {
    await allHere.promise;
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
  };
  const command = runCommandInProcess(['reconcile', '--from', THIRD, '--to', LAST, '--json'], one.env);
  await eventually(async () => provider.count('list') >= 1);
  const started = await Promise.all([
    start(one.api, FIRST, SIXTH),
    start(other.api, FIRST, LAST),
    start(one.api, THIRD, LAST),
  ]);
  // nobody is answered before each of the four has begun with a day
  await eventually(async () => provider.count('list') >= 4);
  allHere.resolve();
  const { code, out, err } = await command;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const runs = [...(await Promise.all(started.map(ended))), JSON.parse(out) as PresentedRun];
  expect(runs.map((run) => [run.state, run.total])).toEqual(
    [6, 8, 6, 6].map((days) => ['complete', days * ROWS_A_DAY]),
  );
  for (const [index, day] of DAYS.entries()) {
    const readings = 1 + (index < 6 ? 1 : 0) + (index >= 2 ? 2 : 0);
    expect(countReadings(provider.requests, day), day).toEqual({ readings, overlapping: 0 });
  }
});

/** An environment whose days are read one by one, and a run of some of them that another process has claimed. */
async function openDays(): Promise<ReconciliationEnvironment> {
  const environment = await openReconciliationEnvironment();
  environment.provider.add(...DAYS.flatMap((day) => makeDay(day, 20)));
  await environment.reconcile(FIRST, LAST);
  environment.provider.requests = [];
  return environment;
}

async function claim(context: Context, from: string, to: string): Promise<RunRef> {
  const { id } = await startRun(context, { from, to, trigger: 'test', createdBy: 'test' });
  const run = await claimRun(context, { id });
  if (!run) throw new Error('not claimed');
  return run;
}

async function endLease(environment: ReconciliationEnvironment, run: RunRef): Promise<void> {
  const past = new Date(Date.now() - 60_000);
  await environment.context.db.updateTable('runs').set({ lease_until: past }).where('seq', '=', run.seq).execute();
}

const dayOf = (day: string) => ({ fromDay: day, toDay: day });

test('any number of runs that wait for a day delays no other run of the worker', async () => {
  await using environment = await openDays();
  const elsewhere = await environment.replica();
  const reader = await claim(elsewhere, FIRST, FIRST);
  await leaseWindow(elsewhere, reader, [dayOf(FIRST)]);
  await using held = holdRunLease(elsewhere, reader);
  const start = (from: string, to: string) =>
    startRun(environment.context, { from, to, trigger: 'test', createdBy: 'test' });
  // more than there are slots, each with a day that it could read as well
  const waiting = [];
  for (let run = 0; run < 5; run++) waiting.push(await start(FIRST, THIRD));
  const stop = new AbortController();
  const loops = processRuns({ ...environment.context, signal: stop.signal }, environment.client);
  const shown = (id: string) => findRun(environment.context.db, id);
  const why = 'waits for days that another reconciliation reads';
  for (const { id } of waiting) {
    const waits = eventually(async () => (await shown(id))?.error === why);
    await advanceUntilDone(environment, waits);
  }
  const today = await start(dayAgo(0), dayAgo(0));
  const isRead = eventually(async () => (await shown(today.id))?.state === 'complete');
  await advanceUntilDone(environment, isRead);
  for (const { id } of waiting) expect(await shown(id)).toMatchObject({ state: 'running' });
  const asked = environment.provider.requests.map((seen) => seen.query.get('initial_date'));
  expect(asked).not.toContain(FIRST);
  held.check();
  await releaseWindow(elsewhere, reader, dayOf(FIRST));
  for (const { id } of waiting) {
    const ended = eventually(async () => ((await shown(id))?.state === 'running' ? undefined : await shown(id)));
    const run = await advanceUntilDone(environment, ended);
    expect(run).toMatchObject({ state: 'complete', total: 60, requests: 6, error: null });
  }
  stop.abort();
  await loops;
});

test('a broken day is requested once and reported at once, though the run waits for another day', async () => {
  await using environment = await openDays();
  const elsewhere = await environment.replica();
  const reader = await claim(elsewhere, THIRD, THIRD);
  await leaseWindow(elsewhere, reader, [dayOf(THIRD)]);
  await using held = holdRunLease(elsewhere, reader);
  environment.provider.switches.fault = (seen) =>
    seen.query.get('initial_date') === FIRST ? { status: 400 } : undefined;
  const { id } = await startRun(environment.context, { from: FIRST, to: THIRD, trigger: 'test', createdBy: 'test' });
  const stop = new AbortController();
  const loops = processRuns({ ...environment.context, signal: stop.signal }, environment.client);
  const { db } = environment.context;
  const pauses = new Set<number>();
  const paused = eventually(async () => {
    const row = await db.selectFrom('runs').select('not_before').where('id', '=', id).executeTakeFirst();
    if (row?.not_before) pauses.add(row.not_before.getTime());
    return pauses.size >= 3;
  });
  await advanceUntilDone(environment, paused);
  const asked = () => environment.provider.requests.map((seen) => seen.query.get('initial_date'));
  expect(asked().filter((day) => day === FIRST)).toHaveLength(1);
  const alerts = await db.selectFrom('alerts').select(['name', 'scope', 'ended_at']).execute();
  expect(alerts).toEqual([{ name: 'run_failed', scope: 'test', ended_at: null }]);
  expect(await findRun(db, id)).toMatchObject({ state: 'running' });
  held.check();
  await releaseWindow(elsewhere, reader, dayOf(THIRD));
  const ended = eventually(async () => {
    const shown = await findRun(db, id);
    return shown?.state === 'running' ? undefined : shown;
  });
  const run = await advanceUntilDone(environment, ended);
  expect(run).toMatchObject({ state: 'failed', total: 40, error: expect.stringContaining('400') });
  expect(asked().filter((day) => day === FIRST)).toHaveLength(1);
  stop.abort();
  await loops;
  // a command that resumes the run requests the day again
  environment.provider.switches.fault = () => undefined;
  const again = { from: FIRST, to: THIRD, trigger: 'test', createdBy: 'test' };
  expect(await resumeRun(environment.context, again)).toMatchObject({ id, proven: 2 });
  const taken = await claimRun(environment.context, { id });
  if (!taken) throw new Error('not claimed');
  await executeRun(environment.context, environment.client, taken);
  expect(await findRun(db, id)).toMatchObject({ state: 'complete', total: 60, error: null });
});

test('days of another run are left for last and waited for; those of a killed run until its lease expires', async () => {
  await using environment = await openDays();
  const died = await environment.replica();
  const dead = await claim(died, FIRST, FIRST);
  expect(await leaseWindow(died, dead, [dayOf(FIRST)])).toEqual(dayOf(FIRST));
  const run = await claim(environment.context, FIRST, THIRD);
  const asked = () => [...new Set(environment.provider.requests.map((seen) => seen.query.get('initial_date')))];
  const working = executeRun(environment.context, environment.client, run);
  const shown = () => findRun(environment.context.db, run.id);
  await eventually(async () => {
    const windows = environment.context.db.selectFrom('run_windows').select('state').where('run_seq', '=', run.seq);
    return (await windows.where('state', '=', 'complete').execute()).length === 2;
  });
  expect(asked()).toEqual([DAYS[1], THIRD]);
  expect(await shown()).toMatchObject({ state: 'running' });
  await endLease(environment, dead);
  await working;
  expect(asked()).toEqual([DAYS[1], THIRD, FIRST]);
  expect(await shown()).toMatchObject({ state: 'complete', total: 60 });
  expect(await environment.context.db.selectFrom('run_days').selectAll().execute()).toEqual([]);
  // the run that died is there to be taken up
  expect(await claimRun(environment.context, { id: dead.id })).toMatchObject({ id: dead.id });
});

test('a day whose release failed is released before the next lease', async () => {
  await using environment = await openDays();
  const run = await claim(environment.context, FIRST, THIRD);
  let refusals = 0;
  const refusing = watchDeletes(environment.context, 'run_days', () => {
    if (refusals++ === 0) throw new Error('refused');
  });
  const held: { asked: string | null; days: string[] }[] = [];
  environment.provider.switches.beforeResponse = async (seen) => {
    const rows = await environment.context.db.selectFrom('run_days').select('day').orderBy('day').execute();
    if (seen.page === 1) held.push({ asked: seen.query.get('initial_date'), days: rows.map((row) => row.day) });
  };
  await executeRun(refusing, environment.client, run);
  expect(refusals).toBe(4);
  expect(held).toEqual([FIRST, DAYS[1], THIRD].map((day) => ({ asked: day, days: [day] })));
  expect(await findRun(environment.context.db, run.id)).toMatchObject({ state: 'complete', total: 60 });
});

test('a slow run loses its lease with the day: it can not renew it while another run reads', async () => {
  await using environment = await openDays();
  const slow = await claim(await environment.replica(), FIRST, FIRST);
  await leaseWindow(environment.context, slow, [dayOf(FIRST)]);
  await endLease(environment, slow);
  const run = await claim(environment.context, FIRST, FIRST);
  expect(await leaseWindow(environment.context, run, [dayOf(FIRST)])).toEqual(dayOf(FIRST));
  const row = await environment.context.db
    .selectFrom('runs')
    .select(['state', 'lease_holder'])
    .where('seq', '=', slow.seq)
    .executeTakeFirst();
  expect(row).toEqual({ state: 'running', lease_holder: null });
  // what is left of it gives nothing back that is not its own
  await releaseWindow(environment.context, slow, dayOf(FIRST));
  expect(
    await leaseWindow(environment.context, await claim(environment.context, FIRST, FIRST), [dayOf(FIRST)]),
  ).toBeUndefined();
});

test('a wide window is leased whole or not at all, and a free window is preferred', async () => {
  await using environment = await openDays();
  const [one, other] = [await claim(environment.context, FIRST, LAST), await claim(environment.context, FIRST, LAST)];
  const week = { fromDay: FIRST, toDay: SIXTH };
  expect(await leaseWindow(environment.context, one, [week])).toEqual(week);
  expect(await leaseWindow(environment.context, other, [{ fromDay: SIXTH, toDay: LAST }])).toBeUndefined();
  expect(await leaseWindow(environment.context, other, [dayOf(THIRD), dayOf(LAST)])).toEqual(dayOf(LAST));
  await releaseWindow(environment.context, one, week);
  expect(await leaseWindow(environment.context, other, [{ fromDay: FIRST, toDay: LAST }])).toMatchObject({
    toDay: LAST,
  });
});

test('of many concurrent leases of the same days exactly one succeeds for each', async () => {
  await using environment = await openDays();
  const contexts = [environment.context, await environment.replica(), await environment.replica()];
  const runs: { context: Context; run: RunRef }[] = [];
  for (const context of [...contexts, ...contexts]) runs.push({ context, run: await claim(context, FIRST, LAST) });
  for (let round = 0; round < 10; round++) {
    const windows = [{ fromDay: DAYS[round % 4] ?? '', toDay: DAYS[(round % 4) + (round % 3)] ?? '' }];
    const taken = await Promise.all(runs.map(({ context, run }) => leaseWindow(context, run, windows)));
    expect(taken.filter((window) => window !== undefined)).toEqual(windows);
    const holder = runs[taken.findIndex((window) => window !== undefined)];
    if (holder && windows[0]) await releaseWindow(holder.context, holder.run, windows[0]);
  }
});
