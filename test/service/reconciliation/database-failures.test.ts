import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { findRun } from '../../../src/reconciliation/numbers/read-runs.ts';
import { checkExpectedWebhooks } from '../../../src/reconciliation/runs/check-expected-webhooks.ts';
import { claimRun } from '../../../src/reconciliation/runs/claim-run.ts';
import { planRun } from '../../../src/reconciliation/runs/plan-run.ts';
import { executeRun } from '../../../src/reconciliation/runs/process-runs.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { LOST, loseCommit, watchWrites } from '../../support/failing-database.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';

const D3 = dayAgo(3);
const PAST = new Date(Date.now() - 60_000);

async function claimed(environment: ReconciliationEnvironment) {
  environment.provider.add(...makeDay(D3, 150));
  const { id } = await startRun(environment.context, { from: D3, to: D3, trigger: 'test', createdBy: 'test' });
  return await claimAgain(environment, id);
}

async function claimAgain(environment: ReconciliationEnvironment, id: string) {
  const run = await claimRun(environment.context, { id });
  if (!run) throw new Error('not claimed');
  return run;
}

test.each(['run_pages', 'run_windows', 'runs'])('a commit to %s whose answer is lost counts once', async (table) => {
  await using environment = await openReconciliationEnvironment();
  const run = await claimed(environment);
  await planRun(environment.context, environment.client, run);
  await executeRun(loseCommit(environment.context, table), environment.client, run);
  const pages = 3;
  expect(environment.provider.count('list')).toBe(pages);
  expect(await findRun(environment.context.db, run.id)).toMatchObject({
    ...{ state: 'complete', total: 150, applied: 150, error: null, pages, requests: pages },
  });
});

test.each([
  LOST,
  Object.assign(new Error('Too many connections'), { code: 'ER_CON_COUNT_ERROR', errno: 1040 }),
  Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' }),
  Object.assign(new Error('read-only'), { code: 'ER_OPTION_PREVENTS_STATEMENT', errno: 1290 }),
])('a run waits while the database fails with %s, and no alert is raised', async (error) => {
  await using environment = await openReconciliationEnvironment();
  const run = await claimed(environment);
  const away = watchWrites(environment.context, 'run_pages', () => {
    throw error;
  });
  await executeRun(away, environment.client, run);
  expect(await findRun(environment.context.db, run.id)).toMatchObject({
    state: 'running',
    error: 'waits for the database',
  });
  expect(await claimRun(environment.context, { id: run.id }), 'not at once').toBeUndefined();
  await environment.context.db.updateTable('runs').set({ not_before: PAST }).execute();
  await executeRun(environment.context, environment.client, await claimAgain(environment, run.id));
  expect(await findRun(environment.context.db, run.id)).toMatchObject({ state: 'complete', applied: 150, error: null });
  expect(await environment.context.db.selectFrom('alerts').select('name').execute()).toEqual([]);
});

test('a worker that lost its lease to another worker of its process does not end that run', async () => {
  await using environment = await openReconciliationEnvironment();
  const first = await claimed(environment);
  await environment.context.db.updateTable('runs').set({ lease_until: PAST }).execute();
  const second = await claimAgain(environment, first.id);
  await executeRun(environment.context, environment.client, first);
  expect(await findRun(environment.context.db, first.id)).toMatchObject({ state: 'running', finished_at: null });
  await executeRun(environment.context, environment.client, second);
  expect(await findRun(environment.context.db, first.id)).toMatchObject({ state: 'complete', total: 150 });
});

test('a run that proved its days is complete, though checking expected webhooks fails', async () => {
  await using environment = await openReconciliationEnvironment();
  const run = await claimed(environment);
  await sql`RENAME TABLE spools TO spools_away`.execute(environment.context.db);
  await expect(checkExpectedWebhooks(environment.context)).rejects.toThrow();
  await executeRun(environment.context, environment.client, run);
  expect(await findRun(environment.context.db, run.id)).toMatchObject({ state: 'complete', applied: 150, error: null });
});
