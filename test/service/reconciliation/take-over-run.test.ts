import { expect, test } from 'vitest';
import type { PresentedRun } from '../../../src/reconciliation/numbers/read-runs.ts';
import { LEASE_MS } from '../../../src/reconciliation/runs/claim-run.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import { openServedEnvironment } from '../../support/open-served-environment.ts';
import { numRuns } from '../../support/property.ts';
import { API_KEY, SECRET_KEY, startServe, temporaryDirectory, urlOf } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const DAYS = [20, 19, 18, 17, 16, 15].map(dayAgo);
const ROWS_A_DAY = numRuns(120, 300);
/** The pages of rows, and the one past the end. */
const REQUESTS_A_DAY = Math.ceil(ROWS_A_DAY / 100) + 1;
/** In the third day. */
const DIES_AT_REQUEST = 2 * REQUESTS_A_DAY + 2;
const TAKEN_UP_MS_MAX = 60_000;

test('a run whose process was killed in the middle is taken up once its lease ran out, within 60 s, and ends whole', async () => {
  using home = temporaryDirectory();
  await using provider = await new TestProvider(API_KEY).listen();
  provider.add(...DAYS.flatMap((day) => makeDay(day, ROWS_A_DAY)));
  const database = await createTestDatabase();
  await using dies = await startServe({ home: home.path, databaseUrl: urlOf(database), providerUrl: provider.url });
  const [from, to] = [DAYS[0] ?? '', DAYS.at(-1) ?? ''];
  const { id } = await dies.api.call<PresentedRun>('POST', '/reconciliations', { from, to });
  const shown = (api: typeof dies.api) => api.call<PresentedRun>('GET', `/reconciliations/${id}`);
  await eventually(async () => (await shown(dies.api)).state === 'complete');
  // the bounds are learnt: now it is a window a day, and it dies in the middle
  for (const row of provider.rows.values()) provider.addEvent(row.id, 'refund');
  provider.requests = [];
  provider.switches.fault = (seen) => (seen.nth >= DIES_AT_REQUEST ? { hang: true } : undefined);
  const run = await dies.api.call<PresentedRun>('POST', '/reconciliations', { from, to });
  await eventually(() => provider.count('list') >= DIES_AT_REQUEST);
  await dies.kill();
  provider.switches.fault = () => undefined;
  const asked = provider.count('list');

  const env = { SECRET_KEY };
  await using survivor = await openServedEnvironment({ providerUrl: provider.url, env, on: database });
  const { db, clock } = survivor.context;
  const held = await db.selectFrom('runs').select('lease_until').where('id', '=', run.id).executeTakeFirstOrThrow();
  const leftMs = (held.lease_until?.getTime() ?? 0) - clock.now().getTime();
  expect(leftMs).toBeLessThanOrEqual(LEASE_MS);
  const openedMs = survivor.timers.monotonicMs();
  let takenUpMs: number | undefined;
  provider.switches.beforeResponse = () => {
    takenUpMs ??= survivor.timers.monotonicMs() - openedMs;
  };
  const state = () => survivor.api.call<PresentedRun>('GET', `/reconciliations/${run.id}`);
  expect(await state()).toMatchObject({ state: 'running' });
  const ended = eventually(async () => {
    const now = await state();
    return now.state === 'running' ? undefined : now;
  });
  const done = await advanceUntilDone(survivor, ended);
  expect(done).toMatchObject({ state: 'complete', total: DAYS.length * ROWS_A_DAY, error: null });
  expect(takenUpMs).toBeLessThanOrEqual(TAKEN_UP_MS_MAX);
  // what it had proven before it died was not read again
  expect(provider.count('list') - asked).toBeLessThan(DAYS.length * REQUESTS_A_DAY);
  const { transactions } = await survivor.api.call<{ transactions: unknown[] }>('GET', '/transactions?status=paid');
  expect(transactions).toEqual([]);
});
