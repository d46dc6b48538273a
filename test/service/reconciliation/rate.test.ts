import { expect, test } from 'vitest';
import { PRIORITIES, type Priority } from '../../../src/provider/gate.ts';
import { openClient } from '../../../src/provider/open-client.ts';
import { openBudget, planBucket } from '../../../src/provider/share-rate.ts';
import { claimRun } from '../../../src/reconciliation/claim-run.ts';
import { startRun } from '../../../src/reconciliation/start-run.ts';
import { executeRun } from '../../../src/reconciliation/work-runs.ts';
import { freshDatabase } from '../../support/database.ts';
import { API_KEY, SECRET_KEY, temporaryDirectory, urlOf } from '../../support/programs.ts';
import { dayAgo, makeDay } from '../../support/provider-rows.ts';
import { openReconciliationEnvironment } from '../../support/reconciliation.ts';
import { runCommand } from '../../support/run-command.ts';
import { TestProvider } from '../../support/test-provider.ts';
import { eventually } from '../../support/wait.ts';

/** How many requests of a priority are let through before the bucket has too little left for it. */
async function drain(takers: { take(priority: Priority): Promise<object> }[], priority: Priority): Promise<number> {
  for (let taken = 0; ; taken++) {
    const grants = await Promise.all(takers.map((taker) => taker.take(priority)));
    if (grants.every((grant) => 'waitMs' in grant)) return taken;
  }
}

test('replicas share one bucket; each priority leaves what a more urgent one may still take', async () => {
  await using world = await openReconciliationEnvironment();
  // filled so slowly that nothing flows in while the test runs
  const perMinute = 8;
  const replicas = [world.context, await world.replica()].map((context) => openBudget(context.db, perMinute));
  expect(planBucket(perMinute).capacity).toBe(4);
  const left: Record<string, number> = {};
  for (const priority of PRIORITIES.toReversed()) {
    await drain(replicas, priority);
    const row = await world.context.db.selectFrom('provider_budget').select('tokens').executeTakeFirstOrThrow();
    left[priority] = Math.floor(row.tokens);
  }
  expect(left).toEqual({ backfill: 2, settled: 2, today: 1, verification: 0 });
});

test('two processes together keep to PROVIDER_RATE, and both get on', async () => {
  using home = temporaryDirectory();
  await using provider = await new TestProvider(API_KEY).listen();
  const [older, newer] = [dayAgo(20), dayAgo(5)];
  provider.add(...makeDay(older, 9_000), ...makeDay(newer, 9_000));
  const perMinute = 600;
  const env = {
    ...{ DATABASE_URL: urlOf(await freshDatabase()), SECRET_KEY, DATA_DIR: home.path },
    ...{ PROVIDER_URL: provider.url, PROVIDER_API_KEY: API_KEY, PROVIDER_RATE: `${perMinute}/m` },
  };
  expect(await runCommand(['migrate'], env)).toMatchObject({ code: 0 });
  const reads = await Promise.all(
    [older, newer].map((day) => runCommand(['reconcile', '--from', day, '--to', day, '--json'], env)),
  );
  for (const read of reads) {
    expect(read).toMatchObject({ code: 0 });
    expect(JSON.parse(read.out)).toMatchObject({ state: 'complete', total: 9_000, requests: 91 });
  }
  const times = provider.seen.map((seen) => seen.at).sort((a, b) => a - b);
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  const { capacity, perSecond } = planBucket(perMinute);
  // slack for how late a request may arrive; unshared, the two would be through with twice as many in that time
  expect(times.length).toBe(182);
  expect(times.length).toBeLessThanOrEqual(capacity + perSecond * (seconds + 3));
}, 120_000);

test('a backfill that waits for the bucket to fill delays no verification', async () => {
  await using world = await openReconciliationEnvironment({ PROVIDER_RATE: '20/m' });
  const rows = makeDay(dayAgo(200), 3_000);
  world.provider.add(...rows);
  const stop = new AbortController();
  const context = { ...world.context, signal: stop.signal };
  await using client = openClient(context);
  const { id } = await startRun(context, { from: dayAgo(200), to: dayAgo(200), trigger: 'test', createdBy: 'test' });
  const run = await claimRun(context, { id });
  if (!run) throw new Error('not claimed');
  const backfill = executeRun(context, client, run);
  await eventually(async () => world.provider.count('list') >= 1);
  // tokens are left for these, though the backfill, of 31 requests, has taken all that it may
  for (const row of rows.slice(0, 2)) expect(await client.show(row.id)).toMatchObject({ ok: true });
  expect(world.provider.count('list')).toBeLessThan(31);
  stop.abort();
  await backfill;
});
