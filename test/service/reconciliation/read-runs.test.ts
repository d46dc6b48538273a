import { expect, test } from 'vitest';
import { createProviderClient } from '../../../src/provider/client.ts';
import { findRun, readPageProgress } from '../../../src/reconciliation/numbers/read-runs.ts';
import { claimRun } from '../../../src/reconciliation/runs/claim-run.ts';
import { executeRun } from '../../../src/reconciliation/runs/process-runs.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import { openReconciliationEnvironment } from '../../support/open-reconciliation-environment.ts';
import { PROVIDER_KEY } from '../../support/test-provider.ts';

const DAYS = [20, 19, 18].map(dayAgo);
const ROWS_A_DAY = 250;

test('an open run shows what it has read so far, a finished one the pages of each of its windows', async () => {
  await using environment = await openReconciliationEnvironment();
  const { context, provider, timers } = environment;
  provider.add(...DAYS.flatMap((day) => makeDay(day, ROWS_A_DAY)));
  const [from, to] = [DAYS[0] ?? '', DAYS[2] ?? ''];
  const { id } = await startRun(context, { from, to, trigger: 'command', createdBy: 'command' });
  expect(await findRun(context.db, id)).toMatchObject({ state: 'queued', seen: 0, pages: 0 });

  provider.switches.fault = ({ nth }) => (nth > 5 ? { hang: true } : undefined);
  const stop = new AbortController();
  const stopped = { ...context, signal: stop.signal };
  const options = { url: provider.url, apiKey: PROVIDER_KEY, signal: stop.signal, timers };
  await using client = createProviderClient(options);
  const run = await claimRun(stopped, { id });
  if (!run) throw new Error('the run could not be claimed');
  const executed = executeRun(stopped, client, run);
  const readSoFar = () => findRun(context.db, id);
  await eventually(async () => ((await readSoFar())?.pages ?? 0) >= 4);
  const open = await readSoFar();
  const reading = await readPageProgress(context.db, open?.seq ?? 0);
  expect(reading?.pages).toBeGreaterThan(0);
  expect(reading?.known, 'by the announced total').toBeGreaterThan(reading?.pages ?? 0);
  stop.abort();
  provider.switches.fault = () => undefined;
  await executed;
  const interrupted = await readSoFar();
  expect(interrupted?.seen).toBeGreaterThanOrEqual(400);
  expect(interrupted?.applied).toBe(interrupted?.seen);

  expect(await environment.work(id)).toMatchObject({ state: 'complete', seen: 750, applied: 750 });
  expect(await readPageProgress(context.db, open?.seq ?? 0), 'nothing is being read').toBeUndefined();
  const pages = await context.db.selectFrom('run_windows').select('pages').execute();
  const { pages: all } = (await readSoFar()) ?? {};
  expect(pages.reduce((sum, window) => sum + window.pages, 0)).toBe(all);
  expect(Math.min(...pages.map((window) => window.pages))).toBeGreaterThan(0);
});

test('the total of a run is unknown while a part of its days was not read', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.switches.fault = () => ({ status: 400 });
  expect(await environment.reconcile(DAYS[0] ?? '', DAYS[2] ?? '')).toMatchObject({ state: 'failed', total: null });
});
