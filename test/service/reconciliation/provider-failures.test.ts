import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { raiseAlerts } from '../../../src/alerts/raise-alerts.ts';
import { transact } from '../../../src/database/transact.ts';
import { findRun } from '../../../src/reconciliation/numbers/read-runs.ts';
import { claimRun, LEASE_MS } from '../../../src/reconciliation/runs/claim-run.ts';
import { executeRun, processRuns } from '../../../src/reconciliation/runs/process-runs.ts';
import { resumeRun, startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { checkProvider } from '../../../src/reconciliation/watches/watch-provider.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeDay, makeRow } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { numRuns } from '../../support/property.ts';
import { readRows } from '../../support/read-rows.ts';
import type { SeenRequest } from '../../support/test-provider.ts';

const HOUR_MS = 3_600_000;
/** Longer than a worker takes to renew its lease. */
const RENEWED_MS = 8_000;
const [D5, D4, D3] = [dayAgo(5), dayAgo(4), dayAgo(3)];
const DAY_ROWS = 12;
/** Rows of a day for tests that die or stop between its pages. */
const TWO_PAGES = 130;

async function alertsOf(environment: ReconciliationEnvironment) {
  return await readRows(environment.context.db, 'alerts', ['name', 'ended_at', 'severity'], {}, ['seq']);
}

/** Three ended days, their bounds learnt: from here on a day is a window. */
async function threeDays(rows = DAY_ROWS): Promise<ReconciliationEnvironment> {
  const environment = await openReconciliationEnvironment();
  environment.provider.add(...[D5, D4, D3].flatMap((day) => makeDay(day, rows)));
  await environment.reconcile(D5, D3);
  environment.provider.requests = [];
  return environment;
}

test.each([
  ['a 500', { status: 500 }],
  ['a 429', { status: 429, headers: { 'retry-after': '1' } }],
  ['a cut connection', { cut: 'before' as const }],
  ['an answer cut in the middle', { cut: 'within' as const }],
  ['no JSON', { text: '<html>' }],
])('a page that fails once with %s is requested again, and the run continues', async (_, fault) => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...makeDay(D3, 250));
  environment.provider.switches.fault = (seen: SeenRequest) => (seen.nth === 2 ? fault : undefined);
  const run = await advanceUntilDone(environment, environment.reconcile(D3, D3));
  expect(run).toMatchObject({ state: 'complete', total: 250, applied: 250, passes: 1 });
  expect(await alertsOf(environment)).toEqual([]);
});

test.each([401, 403])('a %i stops the run at once, with one alert for all runs that it fails', async (status) => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...makeDay(D3, 10));
  environment.provider.switches.fault = () => ({ status });
  const run = await environment.reconcile(D3, D3);
  expect(run).toMatchObject({ state: 'failed', applied: 0 });
  expect(run.error).toMatch(/PROVIDER_API_KEY/);
  expect(environment.provider.requests).toHaveLength(1);
  await environment.reconcile(D3, D3);
  expect(await alertsOf(environment)).toEqual([
    { name: 'provider_unauthorized', ended_at: null, severity: 'critical' },
  ]);
  environment.provider.switches.fault = () => undefined;
  expect(await environment.reconcile(D3, D3)).toMatchObject({ state: 'complete', applied: 10 });
  expect((await alertsOf(environment))[0]?.ended_at).not.toBeNull();
});

test('a page broken for good fails the run: all other days are proven, what was applied counts, nothing is called absent', async () => {
  await using environment = await threeDays();
  environment.provider.addEvent(
    [...environment.provider.rows.values()].find((row) => row.date_created.startsWith(D5))?.id ?? '',
    'refund',
  );
  environment.provider.switches.fault = (seen) => (seen.query.get('initial_date') === D4 ? { status: 503 } : undefined);
  const run = await advanceUntilDone(environment, environment.reconcile(D5, D3));
  expect(run).toMatchObject({ state: 'failed', applied: 1, total: 2 * DAY_ROWS, mismatches: 0 });
  expect(run.error).toMatch(/503/);
  const windows = await environment.context.db
    .selectFrom('run_windows')
    .select(['from_day', 'state'])
    .orderBy('seq', 'desc')
    .limit(3)
    .execute();
  expect(windows.reverse()).toEqual([
    { from_day: D5, state: 'complete' },
    { from_day: D4, state: 'planned' },
    { from_day: D3, state: 'complete' },
  ]);
  expect(await alertsOf(environment)).toMatchObject([{ name: 'run_failed', ended_at: null }]);
});

test('a failing show fails the run, and its later days are read', async () => {
  await using environment = await threeDays();
  const gone = [...environment.provider.rows.values()].find((row) => row.date_created.startsWith(D5));
  environment.provider.rows.delete(gone?.id ?? '');
  environment.provider.add(...makeDay(D3, 5));
  environment.provider.switches.fault = (seen) => (seen.kind === 'show' ? { status: 500 } : undefined);
  const run = await advanceUntilDone(environment, environment.reconcile(D5, D3));
  expect(run).toMatchObject({ state: 'failed', applied: 5, total: 2 * DAY_ROWS + 5, mismatches: 0 });
});

test('after three consecutive broken days, and today broken too, the rest is not requested', async () => {
  await using environment = await threeDays();
  const days = [7, 6].map(dayAgo);
  environment.provider.switches.fault = (seen) => (seen.query.get('initial_date') === D3 ? undefined : { status: 503 });
  const run = await advanceUntilDone(environment, environment.reconcile(dayAgo(7), D3));
  expect(run).toMatchObject({ state: 'failed', total: null });
  expect(new Set(environment.provider.requests.map((seen) => seen.query.get('initial_date')))).toEqual(
    new Set([...days, D5, dayAgo(0)]),
  );
});

test('any number of broken days delays no other day while the provider answers', async () => {
  await using environment = await threeDays();
  const broken = [9, 8, 7, 6].map(dayAgo);
  environment.provider.switches.fault = (seen) =>
    broken.includes(seen.query.get('initial_date') ?? '') ? { status: 400 } : undefined;
  expect(await environment.reconcile(dayAgo(9), D3)).toMatchObject({ state: 'failed', total: 3 * DAY_ROWS });
  expect(await alertsOf(environment)).toMatchObject([{ name: 'run_failed', ended_at: null }]);
});

test('an alert of a failed run from before alerts were per trigger ends with any run', async () => {
  await using environment = await threeDays();
  const alert = {
    name: 'run_failed' as const,
    severity: 'critical' as const,
    scope: 'provider',
    summary: 'run_failed',
  };
  await transact(environment.context.db, (trx) => raiseAlerts(trx, [alert], environment.context.clock.now()));
  await environment.reconcile(D4, D3);
  expect((await alertsOf(environment)).map((one) => one.ended_at === null)).toEqual([false]);
});

test('the alert of a failed run fires until a run of its trigger ends without an error', async () => {
  await using environment = await threeDays();
  environment.provider.switches.fault = (seen) =>
    seen.query.get('initial_date') === D4 ? { text: 'no JSON' } : undefined;
  await advanceUntilDone(environment, environment.reconcile(D5, D3, { trigger: 'reconcile_week' }));
  await advanceUntilDone(environment, environment.reconcile(D4, D3, { trigger: 'reconcile_month' }));
  const firing = async () => (await alertsOf(environment)).map((alert) => alert.ended_at === null);
  expect(await firing()).toEqual([true, true]);
  await environment.reconcile(D3, D3, { trigger: 'reconcile_recent' });
  expect(await firing()).toEqual([true, true]);
  await environment.reconcile(D3, D3, { trigger: 'reconcile_month' });
  expect(await firing()).toEqual([true, false]);
});

test('an outage of the provider is one alert, though runs of all triggers fail', async () => {
  await using environment = await threeDays();
  environment.provider.switches.fault = () => ({ status: 503 });
  for (const trigger of ['reconcile_recent', 'reconcile_week', 'reconcile_month'] as const)
    await advanceUntilDone(environment, environment.reconcile(D3, D3, { trigger }));
  expect(await alertsOf(environment)).toMatchObject([{ name: 'provider_failing', ended_at: null }]);
  environment.provider.switches.fault = () => undefined;
  await environment.timers.advance(2 * 60_000);
  await environment.reconcile(D3, D3, { trigger: 'reconcile_recent' });
  await checkProvider(environment.context, environment.client);
  expect(await alertsOf(environment)).toMatchObject([{ ended_at: expect.any(Date) }]);
});

test('the alert of a failed run that a person started ends once other runs have proven its days', async () => {
  await using environment = await threeDays();
  await environment.reconcile(D5, D3, { trigger: 'reconcile_recent' });
  environment.provider.switches.fault = (seen) => (seen.query.get('initial_date') === D4 ? { status: 400 } : undefined);
  await environment.reconcile(D5, D3, { trigger: 'api' });
  await environment.reconcile(D4, D4, { trigger: 'command' });
  const firing = async () => (await alertsOf(environment)).map((alert) => alert.ended_at === null);
  // it was proven before, and is to be proven again
  await environment.reconcile(D3, D3, { trigger: 'reconcile_recent' });
  expect(await firing()).toEqual([true, true]);
  environment.provider.switches.fault = () => undefined;
  // of one platform only
  await environment.reconcile(D4, D4, { trigger: 'reconcile_recent', platform: 'p' });
  expect(await firing()).toEqual([true, true]);
  await environment.reconcile(D4, D4, { trigger: 'reconcile_recent' });
  expect(await firing()).toEqual([false, false]);
  environment.provider.switches.fault = () => ({ status: 400 });
  await environment.reconcile(D5, D3, { trigger: 'api' });
  expect(await firing()).toEqual([false, false, true]);
});

test('a run whose process died resumes with the unproven days, and keeps its counts', async () => {
  await using environment = await threeDays(TWO_PAGES);
  for (const row of environment.provider.rows.values()) environment.provider.addEvent(row.id, 'refund');
  const { id } = await startRun(environment.context, { from: D5, to: D3, trigger: 'test', createdBy: 'test' });
  const died = await environment.replica();
  const run = await claimRun(died, { id });
  if (!run) throw new Error('not claimed');
  // its database goes away in the middle of the second day: like a death, it writes nothing more
  environment.provider.switches.beforeResponse = async (seen) => {
    if (seen.query.get('initial_date') === D4 && seen.page === 2)
      await Promise.all([died.db.destroy(), died.ledgerDb.destroy()]);
  };
  await expect(executeRun(died, environment.client, run)).rejects.toThrow();
  environment.provider.switches.beforeResponse = () => undefined;
  expect(await claimRun(environment.context, { id }), 'its lease still runs').toBeUndefined();
  await environment.timers.advance(LEASE_MS);
  environment.provider.requests = [];
  const taken = await claimRun(environment.context, { id });
  if (!taken) throw new Error('not taken up');
  await executeRun(environment.context, environment.client, taken);
  expect(await findRun(environment.context.db, id)).toMatchObject({
    state: 'complete',
    total: 3 * TWO_PAGES,
    applied: 3 * TWO_PAGES,
  });
  expect(environment.provider.requests.some((seen) => seen.query.get('initial_date') === D5)).toBe(false);
});

/** The day is long enough for its pages to be stored; the three days before it have TWO_PAGES. */
const PAGES = numRuns(11, 21);
const ROWS = PAGES * 100;
const DIES_AT_PAGE = numRuns(9, 15);

async function countKept(environment: ReconciliationEnvironment): Promise<number> {
  return (await environment.context.db.selectFrom('run_page_rows').select('page').execute()).length;
}

/** A day of PAGES that a process dies in; another one has taken the run up. */
async function dieInTheDay(
  environment: ReconciliationEnvironment,
  diesAtPage: number,
  meanwhile: () => void = () => undefined,
) {
  environment.provider.add(...makeDay(D4, ROWS - TWO_PAGES));
  await environment.reconcile(D5, D3);
  for (const row of environment.provider.rows.values()) environment.provider.addEvent(row.id, 'refund');
  environment.provider.requests = [];
  const { id } = await startRun(environment.context, { from: D4, to: D4, trigger: 'test', createdBy: 'test' });
  const died = await environment.replica();
  const run = await claimRun(died, { id });
  if (!run) throw new Error('not claimed');
  environment.provider.switches.beforeResponse = async (seen) => {
    if (seen.page < diesAtPage) return;
    // several pages are under way: it dies once all before are written down, and so counted, and none behind was seen
    await eventually(async () => (await countKept(environment)) === diesAtPage - 1);
    await Promise.all([died.db.destroy(), died.ledgerDb.destroy()]);
  };
  await expect(executeRun(died, environment.client, run)).rejects.toThrow();
  environment.provider.switches.beforeResponse = () => undefined;
  meanwhile();
  await environment.timers.advance(LEASE_MS);
  environment.provider.requests = [];
  const taken = await claimRun(environment.context, { id });
  if (!taken) throw new Error('not taken up');
  await executeRun(environment.context, environment.client, taken);
  return await findRun(environment.context.db, id);
}

test('a killed pass is resumed at the page where it stopped; a row that it could not read stays unreadable', async () => {
  await using environment = await threeDays(TWO_PAGES);
  // on the first page, which is not asked for again
  environment.provider.add(makeRow({ created: `${D4} 23:59:59`, amount: 'ten' }));
  expect(await dieInTheDay(environment, DIES_AT_PAGE)).toMatchObject({
    state: 'complete',
    total: ROWS + 1,
    applied: ROWS,
    passes: 1,
  });
  // of all pages and the one after, at least these were not asked for again
  expect(environment.provider.count('list')).toBeGreaterThan(0);
  expect(environment.provider.count('list')).toBeLessThanOrEqual(PAGES + 2 - (DIES_AT_PAGE - 1));
  expect(environment.provider.requests.some((seen) => seen.page === 1)).toBe(false);
  expect(await environment.context.db.selectFrom('run_page_rows').select('page').execute()).toEqual([]);
  expect(await environment.mismatches('row_refused')).toMatchObject([{ state: 'open' }]);
});

test('the next day begins while the last pages of a long one are in flight; killed then, both are resumed', async () => {
  await using environment = await threeDays(TWO_PAGES);
  const keptOfNext = numRuns(6, 9);
  environment.provider.add(...[D5, D4].flatMap((day) => makeDay(day, ROWS - TWO_PAGES)));
  await environment.reconcile(D5, D4);
  for (const row of environment.provider.rows.values()) environment.provider.addEvent(row.id, 'refund');
  const { id } = await startRun(environment.context, { from: D5, to: D4, trigger: 'test', createdBy: 'test' });
  const died = await environment.replica();
  const run = await claimRun(died, { id });
  if (!run) throw new Error('not claimed');
  const over = Promise.withResolvers<void>();
  environment.provider.switches.beforeResponse = async ({ query, page }) => {
    const day = query.get('initial_date');
    if (day === D4 && page > keptOfNext) await over.promise;
    if (day !== D5 || page !== PAGES + 1) return;
    // it dies before the first day is concluded, with some pages of the second written down
    await eventually(async () => (await countKept(environment)) === PAGES + keptOfNext);
    await Promise.all([died.db.destroy(), died.ledgerDb.destroy()]);
    over.resolve();
  };
  await expect(executeRun(died, environment.client, run)).rejects.toThrow();
  environment.provider.switches.beforeResponse = () => undefined;
  await environment.timers.advance(LEASE_MS);
  environment.provider.requests = [];
  const taken = await claimRun(environment.context, { id });
  if (!taken) throw new Error('not taken up');
  await executeRun(environment.context, environment.client, taken);
  expect(await findRun(environment.context.db, id)).toMatchObject({
    state: 'complete',
    total: 2 * ROWS,
    applied: 2 * ROWS,
    passes: 1,
  });
  const asked = (day: string) =>
    environment.provider.requests.filter((seen) => seen.query.get('initial_date') === day).map((seen) => seen.page);
  expect(asked(D5)).toEqual([PAGES + 1]);
  const left = Array.from({ length: PAGES + 1 - keptOfNext }, (_, nth) => keptOfNext + 1 + nth);
  expect(asked(D4).sort((a, b) => a - b)).toEqual(left);
});

test('rows that moved during a pause are not missed by a resumed pass', async () => {
  await using environment = await threeDays(TWO_PAGES);
  environment.provider.switches.sort = 'touched';
  const moved: string[] = [];
  const run = await dieInTheDay(environment, DIES_AT_PAGE, () => {
    // from the pages that were not read yet to the head
    const rows = [...environment.provider.rows.values()].filter((row) => row.date_created.startsWith(D4));
    for (const row of rows.slice(0, 40)) {
      environment.provider.addEvent(row.id, 'canceled');
      moved.push(row.id);
    }
  });
  expect(run).toMatchObject({ state: 'complete', total: ROWS });
  const ours = await environment.context.db
    .selectFrom('transactions')
    .select('status')
    .where('id', 'in', moved)
    .execute();
  expect(new Set(ours.map((row) => row.status))).toEqual(new Set(['canceled']));
});

test('a row that one pass shows in two versions is fetched by id', async () => {
  await using environment = await threeDays(TWO_PAGES);
  const row = [...environment.provider.rows.values()].find((one) => one.date_created.startsWith(D4));
  if (!row) throw new Error('no row');
  environment.provider.switches.pastEnd = 'last';
  environment.provider.add(...makeDay(D4, 20, { history: ['expired'] }));
  // one of the provider's copies is behind: the day's last page shows it otherwise each time
  let shown = 0;
  environment.provider.switches.beforeResponse = (seen) => {
    if (seen.kind === 'list') environment.provider.patches.set(row.id, { commission: shown++ % 2 === 0 ? '0.10' : '' });
    else environment.provider.patches.delete(row.id);
  };
  await environment.reconcile(D4, D4);
  expect(
    environment.provider.requests.filter((seen) => seen.kind === 'show').map((seen) => seen.path.split('/').at(-1)),
  ).toEqual([row.id]);
});

test('a Retry-After of an hour defers the run; a short one is waited for', async () => {
  await using environment = await threeDays();
  const hour = { status: 429, headers: { 'retry-after': '3600' } };
  environment.provider.switches.fault = (seen) => (seen.query.get('initial_date') === D4 ? hour : undefined);
  const { id } = await startRun(environment.context, { from: D5, to: D3, trigger: 'test', createdBy: 'test' });
  const run = await claimRun(environment.context, { id });
  if (!run) throw new Error('not claimed');
  await executeRun(environment.context, environment.client, run);
  expect(await findRun(environment.context.db, id)).toMatchObject({
    state: 'running',
    error: expect.stringMatching(/waits for the provider/),
  });
  expect(environment.provider.requests.filter((seen) => seen.query.get('initial_date') === D4)).toHaveLength(1);
  await environment.timers.advance(HOUR_MS - 60_000);
  expect(await claimRun(environment.context, { id }), 'not before the hour is over').toBeUndefined();
  expect(await alertsOf(environment)).toEqual([]);
  environment.provider.switches.fault = () => undefined;
  await environment.timers.advance(60_000);
  const again = await claimRun(environment.context, { id });
  if (!again) throw new Error('not taken up');
  await executeRun(environment.context, environment.client, again);
  expect(await findRun(environment.context.db, id)).toMatchObject({
    state: 'complete',
    total: 3 * DAY_ROWS,
    error: null,
  });
});

test('a failed run is resumed by a request for the same days: its proven days are not read again', async () => {
  await using environment = await threeDays();
  const ask = { from: D5, to: D3, trigger: 'command' };
  expect(await resumeRun(environment.context, ask)).toBeUndefined();
  environment.provider.switches.fault = (seen) => (seen.query.get('initial_date') === D3 ? { status: 401 } : undefined);
  const failed = await environment.reconcile(D5, D3, ask);
  expect(failed).toMatchObject({ state: 'failed', total: 2 * DAY_ROWS });
  environment.provider.switches.fault = () => undefined;
  environment.provider.requests = [];
  expect(await resumeRun(environment.context, { ...ask, to: D4 }), 'of other days').toBeUndefined();
  expect(await resumeRun(environment.context, ask)).toEqual({ id: failed.id, proven: 2, windows: 3 });
  expect(await environment.work(failed.id)).toMatchObject({ state: 'complete', total: 3 * DAY_ROWS, error: null });
  expect(new Set(environment.provider.requests.map((seen) => seen.query.get('initial_date')))).toEqual(new Set([D3]));
  expect(await resumeRun(environment.context, ask), 'it is complete').toBeUndefined();
});

test('a worker that lost its lease writes nothing more about the run', async () => {
  await using environment = await threeDays(TWO_PAGES);
  const { id } = await startRun(environment.context, { from: D5, to: D3, trigger: 'test', createdBy: 'test' });
  const run = await claimRun(environment.context, { id });
  if (!run) throw new Error('not claimed');
  let isDue = false;
  const noticed = Promise.withResolvers<void>();
  const watching: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (isDue && result.numAffectedRows === 0n) noticed.resolve();
      return result;
    },
  };
  environment.provider.switches.beforeResponse = async (seen) => {
    // another process took it up, as after a long stop of this one
    if (seen.nth === 3)
      await environment.context.db.updateTable('runs').set({ lease_holder: 'another' }).where('id', '=', id).execute();
    if (seen.nth !== 4) return;
    isDue = true;
    await environment.timers.advance(RENEWED_MS);
    await noticed.promise;
  };
  await executeRun(
    { ...environment.context, db: environment.context.db.withPlugin(watching) },
    environment.client,
    run,
  );
  expect(await findRun(environment.context.db, id)).toMatchObject({ state: 'running', finished_at: null, error: null });
  expect(environment.provider.count('list')).toBeLessThan(9);
});

test('two workers never process the same run, and together they process each run', async () => {
  await using environment = await threeDays(TWO_PAGES);
  const stop = new AbortController();
  const others = await Promise.all([environment.replica(), environment.replica()]);
  for (let run = 0; run < 6; run++)
    await startRun(environment.context, { from: D5, to: D3, trigger: `t${run}`, createdBy: 'test' });
  environment.provider.requests = [];
  const loops = others.map((context) => processRuns({ ...context, signal: stop.signal }, environment.client));
  const { db } = environment.context;
  const open = db.selectFrom('runs').select('id').where('state', 'in', ['queued', 'running']);
  await advanceUntilDone(
    environment,
    eventually(async () => (await open.execute()).length === 0),
  );
  stop.abort();
  await Promise.all(loops);
  const runs = await environment.context.db
    .selectFrom('runs')
    .select(['state', 'pages'])
    .where('trigger', 'like', 't_')
    .execute();
  expect(runs).toEqual(Array.from({ length: 6 }, () => ({ state: 'complete', pages: 9 })));
  // 3 days, 2 pages and the one after: 9 requests a run, none of them twice
  expect(environment.provider.count('list')).toBe(54);
});
