import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WORK } from '../../../jobs/main.ts';
import { createProviderClient } from '../../../src/provider/client.ts';
import { findReadingOfToday, readProvenWindows } from '../../../src/reconciliation/numbers/read-coverage.ts';
import type { PresentedRun } from '../../../src/reconciliation/numbers/read-runs.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { WHOLE_EVERY_MS } from '../../../src/reconciliation/windows/read-recent-window.ts';
import { dayAgo, makeDay, makeRow, type ProviderRow } from '../../support/make-provider-rows.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
  workWith,
} from '../../support/open-reconciliation-environment.ts';
import { DEEP } from '../../support/property.ts';
import { readRow } from '../../support/read-rows.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';

const [D3, D2, D1, TODAY] = [3, 2, 1, 0].map(dayAgo) as [string, string, string, string];
const RECENT_READ_ROWS = 500;
const ROWS = 600;
/** The pages of a day of ROWS, the page after the last, the pages of its head, and a count. */
const WHOLE_REQUESTS = 6 + 1 + 5 + 1;

let seconds = 0;
/** Times of new rows: later than those of a day's first rows, in the order in which they are made. */
function nextWall(): string {
  return `${TODAY} ${new Date((81_000 + seconds++) * 1000).toISOString().slice(11, 19)}`;
}

/** Queues the runs of a tick of JOB_RECONCILE_RECENT, and executes them. */
async function tick({ context, work }: Pick<ReconciliationEnvironment, 'context' | 'work'>): Promise<PresentedRun> {
  await WORK.reconcile_recent(context);
  const { id } = await readRow(context.db, 'runs', ['id'], { state: 'queued' });
  return await work(id);
}

describe('ticks of a day that was read whole', () => {
  let environment: ReconciliationEnvironment;
  const add = (count: number): ProviderRow[] => {
    const rows = Array.from({ length: count }, () => makeRow({ created: nextWall() }));
    environment.provider.add(...rows);
    return rows;
  };
  /** The row that has `newer` rows above it in the list of today. */
  const rowBelow = (newer: number): ProviderRow => {
    const rows = [...environment.provider.rows.values()].filter((row) => row.date_created.startsWith(TODAY));
    const row = rows.sort((a, b) => (a.date_created < b.date_created ? 1 : -1))[newer];
    if (!row) throw new Error('too few rows');
    return row;
  };
  const statusOf = async (id: string): Promise<string | undefined> => {
    const { db } = environment.context;
    return (await db.selectFrom('transactions').select('status').where('id', '=', id).executeTakeFirst())?.status;
  };
  const countRequests = async (): Promise<number> => (await tick(environment)).requests;
  /** As if the complete reading had begun earlier. */
  const ageHead = async (day: string, wholeAt: Date): Promise<void> => {
    const { db } = environment.context;
    await db.updateTable('list_heads').set({ whole_at: wholeAt }).where('day', '=', day).execute();
  };

  beforeAll(async () => {
    environment = await openReconciliationEnvironment();
    environment.context.config.LIMITS.recentReadRows = RECENT_READ_ROWS;
    environment.provider.add(...makeDay(D3, 2), ...makeDay(D2, 3), ...makeDay(D1, ROWS), ...makeDay(TODAY, ROWS));
    await environment.reconcile(D3, D2);
    expect(await tick(environment)).toMatchObject({ how: 'recent', days_recent: 0, requests: 2 * WHOLE_REQUESTS });
  });
  afterAll(() => environment[Symbol.asyncDispose]());

  test('read what is new, at most new rows / 100 + 5 requests', async () => {
    for (const [count, requests] of [
      [0, 2],
      [1, 4],
      [250, 6],
    ] as const) {
      const rows = add(count);
      environment.provider.requests = [];
      const run = await tick(environment);
      expect(run).toMatchObject({ state: 'complete', days_recent: 2, passes: 0, requests, applied: count });
      expect(environment.provider.count('list')).toBe(requests);
      expect(requests).toBeLessThanOrEqual(count / 100 + 5);
      for (const { id } of rows) expect(await statusOf(id)).toBe('pending');
    }
  });

  test('learn what happened to the newest rows, and leave the others to the next whole reading', async () => {
    const [newest, older] = [rowBelow(3), rowBelow(400)];
    environment.provider.addEvent(newest.id, 'paid');
    environment.provider.addEvent(older.id, 'refund');
    expect(await tick(environment)).toMatchObject({ days_recent: 2, applied: 1 });
    expect([await statusOf(newest.id), await statusOf(older.id)]).toEqual(['paid', 'paid']);
    await ageHead(TODAY, new Date(environment.context.clock.now().getTime() - WHOLE_EVERY_MS - 1_000));
    expect(await tick(environment)).toMatchObject({ state: 'complete', days_recent: 1, applied: 1 });
    expect(await statusOf(older.id)).toBe('refund');
    expect(await countRequests()).toBe(2);
  });

  test('say that today was read, and prove no day', async () => {
    const { context } = environment;
    const proven = await readProvenWindows(context.db, D3);
    const before = await findReadingOfToday(context);
    await tick(environment);
    expect((await findReadingOfToday(context))?.getTime()).toBeGreaterThan(before?.getTime() ?? Number.NaN);
    expect(await readProvenWindows(context.db, D3)).toEqual(proven);
  });

  test('report no absent row, not even where two changes cancel out in the count', async () => {
    const gone = rowBelow(500);
    environment.provider.rows.delete(gone.id);
    const late = makeRow({ created: rowBelow(510).date_created });
    environment.provider.add(late);
    expect(await tick(environment)).toMatchObject({ days_recent: 2, applied: 0, mismatches: 0 });
    await ageHead(TODAY, new Date(environment.context.clock.now().getTime() - WHOLE_EVERY_MS - 1_000));
    expect(await tick(environment)).toMatchObject({ days_recent: 1, by_kind: { missing_at_provider: 1 } });
    expect(await statusOf(late.id)).toBe('pending');
    expect(await environment.mismatches('missing_at_provider')).toMatchObject([{ scope: gone.id, state: 'open' }]);
  });

  test.each<[string, () => unknown, object]>([
    ['a row vanishes', () => environment.provider.rows.delete(rowBelow(450).id), { mismatches: 1 }],
    [
      'a row appears among older ones',
      () => environment.provider.add(makeRow({ created: rowBelow(450).date_created })),
      { applied: 1 },
    ],
    [
      'a row that had ended shows another amount',
      async () => {
        const { id } = rowBelow(0);
        environment.provider.addEvent(id, 'paid');
        await tick(environment);
        environment.provider.patches.set(id, { amount: '99.00' });
      },
      { by_kind: { amount_differs: 1 } },
    ],
    [
      'a page fails',
      () => {
        add(1);
        let failed = 0;
        environment.provider.switches.fault = ({ page }) =>
          page === 2 && failed++ === 0 ? { status: 400 } : undefined;
      },
      { applied: 1 },
    ],
  ])('read the day whole at once where %s', async (_, change, found) => {
    await change();
    expect(await tick(environment)).toMatchObject({ state: 'complete', days_recent: 1, passes: 1, ...found });
    expect(await countRequests(), 'of the tick after it').toBe(2);
  });

  test('read a list whole that does not show the newest rows first, until it does', async () => {
    const { provider } = environment;
    provider.switches.sort = 'oldest';
    expect(await tick(environment)).toMatchObject({ state: 'complete', days_recent: 0 });
    expect(await tick(environment)).toMatchObject({ state: 'complete', days_recent: 0 });
    provider.switches.sort = 'newest';
    expect(await tick(environment)).toMatchObject({ state: 'complete', days_recent: 0 });
    expect(await tick(environment)).toMatchObject({ state: 'complete', days_recent: 2 });
  });

  test('read a day whole again after its end', async () => {
    const { context, client } = environment;
    const midnight = context.calendar.startOfDay(TODAY).getTime();
    // ten minutes after midnight: the head is young, but of the running day
    const early = { ...context, clock: { ...context.clock, now: () => new Date(midnight + 600_000) } };
    const work = workWith(early, client);
    await ageHead(D1, new Date(midnight - 1));
    await ageHead(TODAY, new Date(midnight));
    expect(await tick({ context: early, work })).toMatchObject({ state: 'complete', days_recent: 1 });
    expect(await tick({ context: early, work })).toMatchObject({ state: 'complete', days_recent: 2 });
  });

  test('leave a run that a person starts as it was: it reads whole days', async () => {
    expect(await environment.reconcile(TODAY, TODAY)).toMatchObject({ how: 'read', days_recent: 0, passes: 1 });
  });
});

test.runIf(DEEP)(
  'against the real sandbox, ticks send at most new rows / 100 + 5 requests and learn all rows',
  async () => {
    await using sandbox = await startTestSandbox();
    await using environment = await openEnvironment({ PROVIDER_URL: sandbox.url, PROVIDER_API_KEY: API_KEY });
    environment.context.config.LIMITS.recentReadRows = RECENT_READ_ROWS;
    const { context, timers } = environment;
    const options = { url: sandbox.url, apiKey: API_KEY, signal: context.signal, timers };
    await using client = createProviderClient(options);
    const work = workWith(context, client);
    const add = async (walls: string[]): Promise<void> => {
      const transactions = walls.map((wall) => ({ operation: 'cashin', date_created: wall }));
      expect((await sandbox.request('POST', '/sandbox/transactions', { transactions })).status).toBe(201);
    };
    const wallsOf = (day: string, count: number): string[] => makeDay(day, count).map((row) => row.date_created);

    // yesterday is small, and so read whole at each tick
    await add([...wallsOf(D3, 2), ...wallsOf(D2, 3), ...wallsOf(D1, 1), ...wallsOf(TODAY, 500)]);
    const { id } = await startRun(context, { from: D3, to: D2, trigger: 'test', createdBy: 'test' });
    await work(id);
    expect(await tick({ context, work })).toMatchObject({ state: 'complete', days_recent: 0 });
    let rows = 506;
    for (const count of [0, 120, 1]) {
      if (count > 0) await add(Array.from({ length: count }, nextWall));
      rows += count;
      const run = await tick({ context, work });
      expect(run).toMatchObject({ state: 'complete', days_recent: 1, applied: count });
      expect(run.requests).toBeLessThanOrEqual(count / 100 + 5);
    }
    const known = await context.db
      .selectFrom('transactions')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(Number(known.count)).toBe(rows);
  },
  30_000,
);
