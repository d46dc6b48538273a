import { expect, test } from 'vitest';
import { readDayProofs } from '../../../src/http/console/overview/read-overview.ts';
import { dayAgo, makeDay, makeRow } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { numRuns } from '../../support/property.ts';
import { readRow, readRows } from '../../support/read-rows.ts';

const [D5, D4, D3, D1, TODAY] = [5, 4, 3, 1, 0].map(dayAgo) as [string, string, string, string, string];

/** Numbers of transactions of a day: paid, expired, refunded; whole pages and the page after. */
const PAID = numRuns(130, 250);
const ROWS = PAID + 20 + 10;
const REQUESTS = Math.ceil(ROWS / 100) + 1;

/** Three settled days of ROWS transactions in three statuses, read whole once: their bounds are learnt. */
async function threeDays(): Promise<ReconciliationEnvironment> {
  const environment = await openReconciliationEnvironment();
  for (const day of [D5, D4, D3])
    environment.provider.add(
      ...makeDay(day, PAID),
      ...makeDay(day, 20, { history: ['expired'] }),
      ...makeDay(day, 10, { history: ['paid', 'refund'] }),
    );
  await environment.reconcile(D5, D3);
  environment.provider.requests = [];
  return environment;
}

const count = (environment: ReconciliationEnvironment, from: string, to: string) =>
  environment.reconcile(from, to, { how: 'count' });
const rowOf = (environment: ReconciliationEnvironment, day: string, status: string) => {
  const row = [...environment.provider.rows.values()].find(
    (one) => one.date_created.startsWith(day) && one.status === status,
  );
  if (!row) throw new Error(`no ${status} row on ${day}`);
  return row;
};
const statesOf = async (environment: ReconciliationEnvironment, day: string) =>
  await environment.context.db
    .selectFrom('run_windows')
    .select('state')
    .where('from_day', '=', day)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();

test('settled days that add up are proven at one request for the day and one for each status, and the run shows it', async () => {
  await using environment = await threeDays();
  const run = await count(environment, D5, D3);
  expect(run).toMatchObject({
    state: 'complete',
    how: 'count',
    days_counted: 3,
    requests: 12,
    total: 3 * ROWS,
    applied: 0,
  });
  expect(environment.provider.count('list')).toBe(12);
  expect(environment.provider.count('show')).toBe(0);
  const windows = await readRows(environment.context.db, 'run_windows', ['state', 'total', 'asked_at'], {
    state: 'counted',
  });
  expect(windows).toHaveLength(3);
  for (const window of windows) expect(window).toMatchObject({ total: ROWS, asked_at: expect.any(Date) });
  const evidence = await readRows(environment.context.db, 'run_pages', ['pass', 'status'], { pass: 0 });
  expect(evidence).toHaveLength(12);
});

test('a change into a small status is corrected by the pages that carry the counts, and the day is proven', async () => {
  await using environment = await threeDays();
  const { id } = rowOf(environment, D4, 'paid');
  environment.provider.addEvent(id, 'refund');
  expect(await count(environment, D5, D3)).toMatchObject({ days_counted: 3, requests: 12, applied: 1 });
  const ours = await readRow(environment.context.db, 'transactions', ['status'], { id });
  expect(ours.status).toBe('refund');
});

test('a day whose counts differ is read whole, the others are not', async () => {
  await using environment = await threeDays();
  environment.provider.add(makeRow({ created: `${D4} 03:00:00`, history: ['paid'] }));
  const run = await count(environment, D5, D3);
  expect(run).toMatchObject({ state: 'complete', days_counted: 2, total: 3 * ROWS + 1, applied: 1 });
  // 4 each for two days; 1 that differs, its pages and the one after
  expect(run.requests).toBe(8 + 1 + REQUESTS);
  expect(await statesOf(environment, D4)).toEqual({ state: 'complete' });
});

test('a change hidden behind the first page of a large status makes its day be read whole', async () => {
  await using environment = await threeDays();
  for (const row of [...environment.provider.rows.values()]
    .filter((one) => one.date_created.startsWith(D4) && one.status === 'paid')
    .slice(0, 120))
    environment.provider.addEvent(row.id, 'refund');
  const run = await count(environment, D5, D3);
  expect(run).toMatchObject({ state: 'complete', days_counted: 2, applied: 120 });
});

test.each([
  ['ignores the filter', { ignoresStatus: true }],
  [
    'refuses the filter',
    { fault: (seen: { query: URLSearchParams }) => (seen.query.get('status') ? { status: 422 } : undefined) },
  ],
  ['counts wrong', { total: (rows: number) => (rows === ROWS ? ROWS : rows + 1) }],
])('a server that %s is not trusted: its days are read whole', async (_, switches) => {
  await using environment = await threeDays();
  Object.assign(environment.provider.switches, switches);
  expect(await count(environment, D5, D3)).toMatchObject({
    state: 'complete',
    days_counted: 0,
    total: 3 * ROWS,
    applied: 0,
  });
});

test('a day in one status is compared with a second one, since a server that ignores the filter would agree', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...[D5, D4, D3].flatMap((day) => makeDay(day, 30)));
  await environment.reconcile(D5, D3);
  expect(await count(environment, D4, D4)).toMatchObject({ days_counted: 1, requests: 3 });
  environment.provider.switches.ignoresStatus = true;
  environment.provider.addEvent(rowOf(environment, D4, 'paid').id, 'refund');
  // the page of the day itself shows it; then there are two statuses, and their counts do not add up
  expect(await count(environment, D4, D4)).toMatchObject({ state: 'complete', days_counted: 0, applied: 1 });
  expect(await count(environment, D5, D5), 'alike, with nothing changed').toMatchObject({ days_counted: 0 });
});

test('a row that changes while the day is counted proves nothing false, and is not missed', async () => {
  await using environment = await threeDays();
  let moved = '';
  environment.provider.switches.beforeResponse = (seen) => {
    if (seen.query.get('status') !== 'expired' || moved) return;
    moved = rowOf(environment, D4, 'paid').id;
    environment.provider.addEvent(moved, 'refund');
  };
  const run = await count(environment, D4, D4);
  expect(run).toMatchObject({ state: 'complete', applied: 1 });
  const ours = await environment.context.db
    .selectFrom('transactions')
    .select('status')
    .where('id', '=', moved)
    .executeTakeFirst();
  expect(ours).toEqual({ status: 'refund' });
});

test('an empty day is proven by one request', async () => {
  await using environment = await threeDays();
  expect(await count(environment, dayAgo(10), dayAgo(10))).toMatchObject({ days_counted: 1, requests: 1, total: 0 });
});

test('today and yesterday are always read whole, and so is every day until the bounds are learnt', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...[D5, D4, D1].flatMap((day) => makeDay(day, 20)));
  expect(await count(environment, D5, D4)).toMatchObject({ state: 'complete', days_counted: 0, applied: 40 });
  expect(await count(environment, D1, TODAY)).toMatchObject({ state: 'complete', days_counted: 0, applied: 20 });
});

test('a day proven by counts is no longer list_unstable, and the overview shows it as proven', async () => {
  await using environment = await threeDays();
  environment.provider.switches.total = (total) => total + 3;
  await environment.reconcile(D4, D4);
  expect(await environment.mismatches('list_unstable')).toMatchObject([{ scope: D4, state: 'open' }]);
  environment.provider.switches.total = (total) => total;
  // as if nothing had read it before
  await environment.context.db.deleteFrom('run_windows').where('from_day', '=', D4).execute();
  await count(environment, D4, D4);
  expect(await statesOf(environment, D4)).toEqual({ state: 'counted' });
  expect(await environment.mismatches('list_unstable')).toMatchObject([
    { state: 'resolved', resolution: 'fresh_evidence' },
  ]);
  expect(await readDayProofs(environment.context, { from: D4, to: D4 })).toMatchObject([{ proven: true }]);
});
