import { expect, test } from 'vitest';
import { dayAgo, makeDay, makeRow, PLATFORM, wallAgo } from '../../support/make-provider-rows.ts';
import { openReconciliationEnvironment } from '../../support/open-reconciliation-environment.ts';
import { readRows } from '../../support/read-rows.ts';

const [D5, D4, D3, D2, D1, TODAY] = [5, 4, 3, 2, 1, 0].map(dayAgo) as [string, string, string, string, string, string];

test('a first run applies the window, counts it right, and a second one applies nothing', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...makeDay(D3, 230), ...makeDay(D2, 20), ...makeDay(D4, 7), ...makeDay(D1, 7));
  const first = await environment.reconcile(D3, D2);
  // asked a day wider on both sides: 264 rows, 3 pages and the one after
  expect(first).toMatchObject({
    state: 'complete',
    total: 250,
    seen: 250,
    applied: 250,
    passes: 1,
    pages: 4,
    error: null,
  });
  expect(first.started_at && first.finished_at).toBeTruthy();
  const inWindow = [...environment.provider.rows.values()].filter((row) =>
    [D3, D2].includes(row.date_created.slice(0, 10)),
  );
  expect(await environment.ids()).toEqual(inWindow.map((row) => row.id).sort());
  const second = await environment.reconcile(D3, D2);
  expect(second).toMatchObject({ state: 'complete', total: 250, applied: 0, mismatches: 0, by_kind: {} });
});

test('a change is applied by the next run and counted once, however many pages and passes show it', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = makeDay(D3, 120, { history: [] });
  environment.provider.add(...rows);
  await environment.reconcile(D3, D3);
  environment.provider.addEvent(rows[4]?.id ?? '', 'paid');
  environment.provider.switches.pageSize = 50;
  expect(await environment.reconcile(D3, D3)).toMatchObject({ state: 'complete', passes: 2, applied: 1, total: 120 });
});

test('a day without a transaction is proven too', async () => {
  await using environment = await openReconciliationEnvironment();
  const run = await environment.reconcile(D3, D3);
  expect(run).toMatchObject({ state: 'complete', total: 0, seen: 0, applied: 0, passes: 1 });
  const windows = await readRows(environment.context.db, 'run_windows', ['state', 'total', 'from_day']);
  expect(windows).toEqual([{ state: 'complete', total: 0, from_day: D3 }]);
});

test.each([
  ['inclusive', 'inclusive'],
  ['exclusive', 'inclusive'],
  ['inclusive', 'exclusive'],
  ['exclusive', 'exclusive'],
] as const)(
  'bounds %s and %s are learnt from a proven run, and days are then read alone and whole',
  async (low, high) => {
    await using environment = await openReconciliationEnvironment();
    Object.assign(environment.provider.switches, { fromBound: low, toBound: high });
    environment.provider.add(...[D5, D4, D3, D2, D1].flatMap((day) => makeDay(day, 20)));
    expect(await environment.reconcile(D4, D2)).toMatchObject({ state: 'complete', total: 60, applied: 60 });
    const bounds = await readRows(environment.context.db, 'settings', ['value'], { name: 'list_bounds' });
    expect(JSON.parse(String(bounds[0]?.value))).toEqual({ low, high });
    environment.provider.requests = [];
    expect(await environment.reconcile(D5, D1)).toMatchObject({ state: 'complete', total: 100, applied: 40 });
    const totals = await environment.context.db
      .selectFrom('run_windows')
      .select(['from_day', 'to_day', 'total'])
      .orderBy('seq', 'desc')
      .limit(5)
      .execute();
    expect(totals.reverse()).toEqual([D5, D4, D3, D2, D1].map((day) => ({ from_day: day, to_day: day, total: 20 })));
    // one page and the one after it, for each day: nothing is asked for in vain
    expect(environment.provider.count('list')).toBe(10);
  },
);

test('a first long run is cut into days as soon as it has learnt the bounds', async () => {
  await using environment = await openReconciliationEnvironment();
  const days = Array.from({ length: 20 }, (_, index) => dayAgo(30 - index));
  environment.provider.add(...days.flatMap((day) => makeDay(day, 5)));
  const run = await environment.reconcile(days[0] ?? '', days.at(-1) ?? '');
  expect(run).toMatchObject({ state: 'complete', total: 100, applied: 100, mismatches: 0 });
  const windows = await readRows(environment.context.db, 'run_windows', ['from_day', 'to_day', 'state'], {}, [
    'from_day',
  ]);
  const week = { from_day: days[0], to_day: days[6], state: 'complete' };
  expect(windows).toEqual([week, ...days.slice(7).map((day) => ({ from_day: day, to_day: day, state: 'complete' }))]);
});

test('the weekly run forgets bounds that do not hold any more, and learns the new ones', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...[D5, D4, D3, D2, D1].flatMap((day) => makeDay(day, 10)));
  await environment.reconcile(D5, D2);
  Object.assign(environment.provider.switches, { fromBound: 'exclusive', toBound: 'exclusive' });
  const weekly = await environment.reconcile(D5, D2, { trigger: 'reconcile_quarter' });
  expect(weekly).toMatchObject({ state: 'complete', total: 40, applied: 0, mismatches: 0 });
  expect(await environment.reconcile(D3, D3)).toMatchObject({ state: 'complete', total: 10, mismatches: 0 });
});

test('a running day is complete as of its read, though it grows while it is read', async () => {
  await using environment = await openReconciliationEnvironment();
  // within a second the list is in the order of ids: a newer row must not sort behind rows of a page that was read
  let made = 0;
  const nextId = (): string => `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`;
  const created = wallAgo(0);
  environment.provider.add(...Array.from({ length: 230 }, () => makeRow({ id: nextId(), created, history: [] })));
  let more = 40;
  environment.provider.switches.beforeResponse = (seen) => {
    if (seen.kind === 'list' && more-- > 0) environment.provider.add(makeRow({ id: nextId() }));
  };
  const run = await environment.reconcile(TODAY, TODAY);
  expect(run.state).toBe('complete');
  expect(run.total).toBeGreaterThan(230);
  expect(await environment.mismatches()).toEqual([]);
});

test('a platform is read alone, and what others hold is not taken for absent', async () => {
  await using environment = await openReconciliationEnvironment();
  const other = 'a3bb189e-8bf9-4888-9912-ace4e6543002';
  environment.provider.add(...makeDay(D3, 5), ...makeDay(D3, 7, { platform: other }));
  expect(await environment.reconcile(D3, D3)).toMatchObject({ total: 12 });
  expect(await environment.reconcile(D3, D3, { platform: PLATFORM })).toMatchObject({
    state: 'complete',
    total: 5,
    mismatches: 0,
  });
});

test.each<[string, Parameters<typeof Object.assign>[1]]>([
  ['oldest first', { sort: 'oldest' }],
  ['404 past the end', { beyond: 404 }],
  ['422 past the end', { beyond: 422 }],
  ['the last page again past the end', { beyond: 'last' }],
  ['a total that is text', { total: String }],
  ['no last_page', { lastPage: () => undefined }],
  ['another host in next_page_url', { next: 'http://127.0.0.1:9' }],
])('a provider with %s is proven in one pass', async (_, switches) => {
  await using environment = await openReconciliationEnvironment();
  Object.assign(environment.provider.switches, switches);
  environment.provider.add(...makeDay(D3, 250));
  expect(await environment.reconcile(D3, D3)).toMatchObject({ state: 'complete', total: 250, applied: 250, passes: 1 });
});

test('the evidence of every page is kept: run, pass, page, total and rows', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...makeDay(D3, 120));
  await environment.reconcile(D3, D3);
  const pages = await readRows(environment.context.db, 'run_pages', ['pass', 'page', 'total', 'row_count'], {}, [
    'page',
  ]);
  expect(pages).toEqual([
    { pass: 1, page: 1, total: 120, row_count: 100 },
    { pass: 1, page: 2, total: 120, row_count: 20 },
    { pass: 1, page: 3, total: 120, row_count: 0 },
  ]);
});

test.each([
  ['2026-02-30', '2026-03-01', /from must be a day/],
  ['2026-03-02', '2026-03-01', /to is before from/],
  ['2099-01-01', '2099-01-02', /is a day to come/],
  ['2010-01-01', dayAgo(0), /more than 3700 days/],
])('a range from %s to %s is refused with the reason', async (from, to, reason) => {
  await using environment = await openReconciliationEnvironment();
  await expect(environment.reconcile(from, to)).rejects.toThrow(reason);
});
