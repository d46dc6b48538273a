import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { createProviderClient } from '../../../src/provider/client.ts';
import { openClient } from '../../../src/provider/open-client.ts';
import { openTokenBucket, planBucket } from '../../../src/provider/open-token-bucket.ts';
import { PRIORITIES, type Priority, TOKEN_TTL_MS, type TokenBucket } from '../../../src/provider/schedule-requests.ts';
import { claimRun } from '../../../src/reconciliation/runs/claim-run.ts';
import { executeRun } from '../../../src/reconciliation/runs/process-runs.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import { openReconciliationEnvironment } from '../../support/open-reconciliation-environment.ts';
import { DEEP } from '../../support/property.ts';
import { runCommand } from '../../support/run-command.ts';
import { API_KEY, SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';
import { PROVIDER_KEY, TestProvider } from '../../support/test-provider.ts';

/** How many requests of a priority are let through before the bucket has too little left for it. */
async function drain(takers: { take(priority: Priority): Promise<object> }[], priority: Priority): Promise<number> {
  for (let taken = 0; ; taken++) {
    const grants = await Promise.all(takers.map((taker) => taker.take(priority)));
    if (grants.every((grant) => 'waitMs' in grant)) return taken;
  }
}

test('replicas share one bucket; each priority leaves what a more urgent one may still take', async () => {
  await using environment = await openReconciliationEnvironment();
  // filled so slowly that nothing flows in while the test runs
  const perMinute = 8;
  const replicas = [environment.context, await environment.replica()].map((context) =>
    openTokenBucket(context, perMinute),
  );
  expect(planBucket(perMinute).capacity).toBe(4);
  const left: Record<string, number> = {};
  for (const priority of PRIORITIES.toReversed()) {
    await drain(replicas, priority);
    const row = await environment.context.db.selectFrom('provider_budget').select('tokens').executeTakeFirstOrThrow();
    left[priority] = Math.floor(row.tokens);
  }
  expect(left).toEqual({ backfill: 2, settled: 2, unproven: 1, today: 1, verification: 0 });
});

test('a bucket that a wrong clock filled an hour ahead gives tokens again at once', async () => {
  await using environment = await openReconciliationEnvironment();
  const budget = openTokenBucket(environment.context, 600);
  await budget.take('verification');
  const filled_at = new Date(environment.context.clock.now().getTime() + 3_600_000);
  await environment.context.db.updateTable('provider_budget').set({ tokens: 0, filled_at }).execute();
  await budget.take('verification');
  await environment.timers.advance(1_000);
  expect(await budget.take('verification')).toMatchObject({ tokens: expect.any(Number) });
});

test('two replicas together keep to PROVIDER_RATE, and both make progress', async () => {
  await using environment = await openReconciliationEnvironment({ PROVIDER_RATE: '600/m' });
  const times: number[] = [];
  environment.provider.switches.beforeResponse = () => void times.push(environment.timers.monotonicMs());
  const each = 91;
  const read = async (context: Context): Promise<void> => {
    await using client = openClient(context);
    await Promise.all(Array.from({ length: each }, () => client.listPage({ initialDate: dayAgo(5) }, 1)));
  };
  await advanceUntilDone(environment, Promise.all([read(environment.context), read(await environment.replica())]));
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  const { capacity, perSecond } = planBucket(600);
  expect(times).toHaveLength(2 * each);
  // a token may be used up to TOKEN_TTL_MS after it was taken; unshared, two replicas would send twice as many
  expect(times.length).toBeLessThanOrEqual(capacity + perSecond * (seconds + TOKEN_TTL_MS / 1000));
});

test.runIf(DEEP)('two processes together keep to PROVIDER_RATE, and both get on', async () => {
  using home = temporaryDirectory();
  await using provider = await new TestProvider(API_KEY).listen();
  const [older, newer] = [dayAgo(20), dayAgo(5)];
  provider.add(...makeDay(older, 9_000), ...makeDay(newer, 9_000));
  const perMinute = 600;
  const env = {
    ...{ DATABASE_URL: urlOf(await createTestDatabase()), SECRET_KEY, DATA_DIR: home.path },
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
  const times = provider.requests.map((seen) => seen.at).sort((a, b) => a - b);
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  const { capacity, perSecond } = planBucket(perMinute);
  // a slow machine only sends less; unshared, the two would be through with twice as many in that time
  expect(times.length).toBe(182);
  expect(times.length).toBeLessThanOrEqual(capacity + perSecond * (seconds + 3));
});

test('a backfill that waits for the bucket to fill delays no verification', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = makeDay(dayAgo(200), 450);
  environment.provider.add(...rows);
  const stop = new AbortController();
  const context = { ...environment.context, signal: stop.signal };
  // nothing flows into the bucket
  const now = environment.context.clock.now();
  const budget = openTokenBucket({ db: context.db, clock: { ...context.clock, now: () => now } }, 20);
  const grants: [Priority, 'token' | 'wait'][] = [];
  const noted: TokenBucket = {
    async take(priority) {
      const grant = await budget.take(priority);
      grants.push([priority, 'waitMs' in grant ? 'wait' : 'token']);
      return grant;
    },
  };
  await using client = createProviderClient({
    url: environment.provider.url,
    apiKey: PROVIDER_KEY,
    ...context,
    tokenBucket: noted,
  });
  const { id } = await startRun(context, { from: dayAgo(200), to: dayAgo(200), trigger: 'test', createdBy: 'test' });
  const run = await claimRun(context, { id });
  if (!run) throw new Error('not claimed');
  const backfill = executeRun(context, client, run);
  await eventually(() => grants.some(([priority, grant]) => priority === 'backfill' && grant === 'wait'));
  // tokens are left for these, though the backfill has taken all that it may
  const shows = Promise.all(rows.slice(0, 2).map((row) => client.show(row.id)));
  const verifications = () => grants.filter(([priority]) => priority === 'verification');
  await eventually(() => verifications().length >= 2);
  expect(verifications().slice(0, 2)).toEqual(Array(2).fill(['verification', 'token']));
  expect(await shows).toMatchObject([{ ok: true }, { ok: true }]);
  expect(grants.filter(([, grant]) => grant === 'token')).toHaveLength(planBucket(20).capacity);
  stop.abort();
  await backfill;
});
