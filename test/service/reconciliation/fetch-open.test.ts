import { expect, test } from 'vitest';
import { reconcileOpenDays } from '../../../jobs/reconcile-days.ts';
import { claimRun } from '../../../src/reconciliation/runs/claim-run.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import {
  fetchDueOpen,
  fetchOpen,
  nextFetchAt,
  scheduleOpenFetches,
} from '../../../src/reconciliation/watches/fetch-open.ts';
import { priorityOf } from '../../../src/reconciliation/windows/plan-windows.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeDay, makeRow, wallAgo } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { readRows } from '../../support/read-rows.ts';

const AGES = [30_000, 120_000, 86_400_000];
const [D100, D99, D98, D97] = [100, 99, 98, 97].map(dayAgo) as [string, string, string, string];
const TODAY = dayAgo(0);

test('an open transaction is due at the ages of the schedule, then each day; an unpaid charge is not', () => {
  const created = new Date('2026-03-01T10:00:00Z');
  const at = (ms: number): Date => new Date(created.getTime() + ms);
  expect(nextFetchAt(created, created, AGES, true)).toEqual(at(30_000));
  expect(nextFetchAt(created, at(30_000), AGES, true)).toEqual(at(120_000));
  expect(nextFetchAt(created, at(50_000_000), AGES, true)).toEqual(at(86_400_000));
  expect(nextFetchAt(created, at(86_400_000), AGES, true)).toBeUndefined();
  expect(nextFetchAt(created, at(86_400_000), AGES, false)).toEqual(at(2 * 86_400_000));
});

const statusOf = async (environment: ReconciliationEnvironment, id: string) =>
  (await environment.context.db.selectFrom('transactions').select('status').where('id', '=', id).executeTakeFirst())
    ?.status;
const listed = async (environment: ReconciliationEnvironment) =>
  (await environment.context.db.selectFrom('open_looks').select('transaction_seq').execute()).length;

test('a payment whose webhook is lost is fetched, and an ended transaction is not fetched any more', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.context.config.LIMITS.openAgesMs = [1_000, 2_000, 4_000, 86_400_000];
  const [open, ended] = [makeRow({ created: wallAgo(0), history: [] }), makeRow({ history: ['paid'] })];
  environment.provider.add(open, ended);
  await environment.reconcile(TODAY, TODAY);
  environment.provider.requests = [];
  environment.provider.addEvent(open.id, 'paid');
  const stop = new AbortController();
  const loop = fetchOpen({ ...environment.context, signal: stop.signal }, environment.client);
  await eventually(async () => (await statusOf(environment, open.id)) === 'paid');
  await eventually(async () => (await listed(environment)) === 0);
  stop.abort();
  await loop;
  expect(environment.provider.count('list')).toBe(0);
  expect(environment.provider.requests.every((seen) => seen.path.endsWith(open.id))).toBe(true);
  const event = await readRows(environment.context.db, 'events', ['source_kind'], { status: 'paid' });
  expect(event.map((row) => row.source_kind).sort()).toEqual(['list', 'show']);
});

test('replicas make each fetch once, in rounds of limited size', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...Array.from({ length: 60 }, () => makeRow({ created: wallAgo(40_000), history: [] })));
  await environment.reconcile(TODAY, TODAY);
  environment.provider.requests = [];
  const replicas = [environment.context, await environment.replica()];
  await scheduleOpenFetches(environment.context, [50_000, 60_000], false);
  expect(await listed(environment)).toBe(60);
  await environment.context.db
    .updateTable('open_looks')
    .set({ next_look_at: new Date(Date.now() - 1000) })
    .execute();
  const ages = [3_600_000, 86_400_000];
  const made = await Promise.all(replicas.map((context) => fetchDueOpen(context, environment.client, ages)));
  expect(Math.max(...made)).toBeLessThanOrEqual(25);
  while ((await fetchDueOpen(environment.context, environment.client, ages)) > 0);
  const paths = environment.provider.requests.map((seen) => seen.path);
  expect(paths).toHaveLength(60);
  expect(new Set(paths).size).toBe(60);
});

test('old transactions are fetched while they hold money or are in process, abandoned charges are not', async () => {
  await using environment = await openReconciliationEnvironment();
  const old = { created: `${D98} 10:00:00`, history: [] as string[] };
  const cashout = makeRow({ ...old, operation: 'cashout' });
  const analysed = makeRow({ ...old, history: ['in_analysis'] });
  environment.provider.add(cashout, analysed, makeRow(old));
  await environment.reconcile(D98, D98);
  await scheduleOpenFetches(environment.context, AGES, false);
  expect(await listed(environment)).toBe(0);
  await scheduleOpenFetches(environment.context, AGES, true);
  environment.provider.requests = [];
  expect(await fetchDueOpen(environment.context, environment.client, AGES)).toBe(2);
  const asked = environment.provider.requests.map((seen) => seen.path.split('/').at(-1) ?? '').sort();
  expect(asked).toEqual([cashout.id, analysed.id].sort());
});

test('a transaction that holds money does not wait behind unpaid charges, and these do not starve', async () => {
  await using environment = await openReconciliationEnvironment();
  const [charges, cashouts] = [30, 30];
  const make = (count: number, operation: string) =>
    Array.from({ length: count }, () => makeRow({ created: `${D98} 10:00:00`, operation, history: [] }));
  environment.provider.add(...make(charges, 'cashin'), ...make(cashouts, 'cashout'));
  await environment.reconcile(D98, D98);
  const { db } = environment.context;
  const due = await db.selectFrom('transactions').select(['seq', 'id', 'operation']).execute();
  const waits = (operation: string): number => (operation === 'cashin' ? 7_200_000 : 1_000);
  await db
    .insertInto('open_looks')
    .values(due.map((row) => ({ transaction_seq: row.seq, next_look_at: new Date(Date.now() - waits(row.operation)) })))
    .execute();
  environment.provider.requests = [];
  expect(await fetchDueOpen(environment.context, environment.client, AGES)).toBe(25);
  const asked = environment.provider.requests.map((seen) => due.find((row) => seen.path.endsWith(row.id))?.operation);
  expect(asked.filter((operation) => operation === 'cashout')).toHaveLength(20);
  expect(asked.filter((operation) => operation === 'cashin')).toHaveLength(5);
});

test('any number of old transactions is scheduled at once, spread over rounds', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(
    ...Array.from({ length: 1_100 }, () => makeRow({ created: `${D98} 10:00:00`, operation: 'cashout', history: [] })),
  );
  await environment.reconcile(D98, D98);
  await scheduleOpenFetches(environment.context, AGES, true);
  expect(await listed(environment)).toBe(1_100);
  const { db, clock } = environment.context;
  const due = await db
    .selectFrom('open_looks')
    .select('transaction_seq')
    .where('next_look_at', '<=', clock.now())
    .execute();
  expect(due.length).toBeGreaterThanOrEqual(25);
  const soon = new Date(clock.now().getTime() + 86_400_000);
  const later = await db.selectFrom('open_looks').select('transaction_seq').where('next_look_at', '<', soon).execute();
  expect(later).toHaveLength(1_100);
  const first = await db.selectFrom('open_looks').select('next_look_at').orderBy('next_look_at').execute();
  expect(new Set(first.map((row) => row.next_look_at.getTime())).size).toBeGreaterThanOrEqual(1_100 / 25);
});

test('each night the days older than the last ones that hold an open transaction are counted, until it closes', async () => {
  await using environment = await openReconciliationEnvironment();
  const open = makeRow({ created: `${D98} 10:00:00`, history: [] });
  environment.provider.add(...[D100, D99, D98, D97].flatMap((day) => makeDay(day, 20)), open);
  await environment.reconcile(D100, D97);
  const night = async () => {
    await reconcileOpenDays(environment.context, 'reconcile_open', 95);
    const run = await environment.context.db
      .selectFrom('runs')
      .select('id')
      .where('trigger', '=', 'reconcile_open')
      .where('state', '=', 'queued')
      .executeTakeFirst();
    return run && (await environment.work(run.id));
  };
  expect(await night()).toMatchObject({ state: 'complete', from: D98, to: D98, how: 'open', days_counted: 1 });
  environment.provider.addEvent(open.id, 'canceled');
  expect(await night()).toMatchObject({ state: 'complete', applied: 1 });
  expect(await night(), 'nothing is open any more').toBeUndefined();
});

test('a transaction that fails does not end its round; a refused key does', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = Array.from({ length: 12 }, () => makeRow({ created: wallAgo(40_000), history: [] }));
  environment.provider.add(...rows);
  await environment.reconcile(TODAY, TODAY);
  await scheduleOpenFetches(environment.context, [50_000, 60_000], false);
  const makeDue = async () =>
    await environment.context.db
      .updateTable('open_looks')
      .set({ next_look_at: new Date(Date.now() - 1000) })
      .execute();
  await makeDue();
  environment.provider.requests = [];
  environment.provider.switches.fault = (seen) =>
    seen.path.endsWith(rows[0]?.id ?? '-') ? { status: 500 } : undefined;
  await fetchDueOpen(environment.context, environment.client, AGES);
  expect(new Set(environment.provider.requests.map((seen) => seen.path)).size).toBe(12);
  await makeDue();
  environment.provider.requests = [];
  environment.provider.switches.fault = () => ({ status: 401 });
  const stop = new AbortController();
  const round = fetchDueOpen({ ...environment.context, signal: stop.signal }, environment.client, AGES);
  await eventually(async () => environment.provider.requests.length > 0);
  // it would leave the provider alone for a minute
  stop.abort();
  await round;
  expect(environment.provider.requests.length).toBeLessThanOrEqual(4);
});

test('the days with an open transaction do not wait behind a backfill', async () => {
  await using environment = await openReconciliationEnvironment();
  const far = { from: dayAgo(400), to: D98, createdBy: 'test' };
  await startRun(environment.context, { ...far, trigger: 'command' });
  const open = await startRun(environment.context, { ...far, trigger: 'reconcile_open', how: 'open' });
  expect(await claimRun(environment.context, { daysMax: 96 })).toBeUndefined();
  const run = await claimRun(environment.context, { daysMax: 96, includeOpen: true });
  expect(run?.id).toBe(open.id);
  const window = { fromDay: dayAgo(300), toDay: dayAgo(300) };
  expect(priorityOf(window, { ...far, how: 'open' }, TODAY)).toBe('settled');
  expect(priorityOf(window, { ...far, how: 'read' }, TODAY)).toBe('backfill');
});

test('the long jobs of the timetable are no backfill, to their first day', () => {
  const run = { from: dayAgo(96), to: TODAY, how: 'count' } as const;
  const windowOf = (back: number) => ({ fromDay: dayAgo(back), toDay: dayAgo(back) });
  expect([96, 2, 1, 0].map((back) => priorityOf(windowOf(back), run, TODAY))).toEqual([
    'settled',
    'settled',
    'today',
    'today',
  ]);
  expect(priorityOf(windowOf(97), { ...run, from: dayAgo(97) }, TODAY)).toBe('backfill');
});
