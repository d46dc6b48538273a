import { expect, test } from 'vitest';
import type { PresentedRun } from '../../../src/reconciliation/read-runs.ts';
import { freshDatabase } from '../../support/database.ts';
import { API_KEY, startServe, temporaryDirectory, urlOf } from '../../support/programs.ts';
import { dayAgo, makeDay } from '../../support/provider-rows.ts';
import { TestProvider } from '../../support/test-provider.ts';
import { eventually } from '../../support/wait.ts';

const TAKE_OVER_MS = 60_000;

test('a run whose process was killed in the middle is taken up by another within 60 s and ends whole', async () => {
  using first = temporaryDirectory();
  using second = temporaryDirectory();
  await using provider = await new TestProvider(API_KEY).listen();
  const days = [20, 19, 18, 17, 16, 15].map(dayAgo);
  provider.add(...days.flatMap((day) => makeDay(day, 300)));
  const databaseUrl = urlOf(await freshDatabase());
  await using dies = await startServe({ home: first.path, databaseUrl, providerUrl: provider.url });
  const [from, to] = [days[0] ?? '', days.at(-1) ?? ''];
  const { id } = await dies.api.call<PresentedRun>('POST', '/reconciliations', { from, to });
  const shown = (api: typeof dies.api) => api.call<PresentedRun>('GET', `/reconciliations/${id}`);
  await eventually(async () => (await shown(dies.api)).state === 'complete');
  // the bounds are learnt: now it is a window a day, and slow enough to die in the middle
  for (const row of provider.rows.values()) provider.move(row.id, 'refund');
  provider.switches.before = () => new Promise((resolve) => setTimeout(resolve, 100));
  provider.seen = [];
  const run = await dies.api.call<PresentedRun>('POST', '/reconciliations', { from, to });
  await eventually(async () => provider.count('list') >= 9);
  await dies.kill();
  const diedAt = Date.now();
  const asked = provider.count('list');
  await using lives = await startServe({ home: second.path, databaseUrl, providerUrl: provider.url });
  const state = () => lives.api.call<PresentedRun>('GET', `/reconciliations/${run.id}`);
  expect(await state()).toMatchObject({ state: 'running' });
  await eventually(async () => provider.count('list') > asked);
  expect(Date.now() - diedAt).toBeLessThan(TAKE_OVER_MS);
  const done = await eventually(async () => {
    const now = await state();
    return now.state === 'running' ? undefined : now;
  });
  expect(done).toMatchObject({ state: 'complete', total: 1800, error: null });
  // what it had proven before it died was not read again: 4 pages a day, for fewer than all days
  expect(provider.count('list') - asked).toBeLessThan(6 * 4);
  const { transactions } = await lives.api.call<{ transactions: unknown[] }>('GET', '/transactions?status=paid');
  expect(transactions).toEqual([]);
}, 120_000);
