import { expect, test } from 'vitest';
import { readOrCreateSetting } from '../../../src/database/keys/settings.ts';
import { findRun } from '../../../src/reconciliation/numbers/read-runs.ts';
import { claimRun } from '../../../src/reconciliation/runs/claim-run.ts';
import { planRun, replanRun } from '../../../src/reconciliation/runs/plan-run.ts';
import { executeRun } from '../../../src/reconciliation/runs/process-runs.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import type { RunRef, WindowRef } from '../../../src/reconciliation/windows/run-ref.ts';
import { watchWrites } from '../../support/failing-database.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';

const [D26, D3] = [dayAgo(26), dayAgo(3)];
const ROWS = 4 * 30;

/** A run of four wide windows, the first of them read: the bounds were learnt from it. */
async function wideRun(
  environment: ReconciliationEnvironment,
): Promise<{ run: RunRef; first: WindowRef; left: WindowRef[] }> {
  environment.provider.add(...[25, 18, 11, 4].flatMap((ago) => makeDay(dayAgo(ago), ROWS / 4)));
  const { id } = await startRun(environment.context, { from: D26, to: D3, trigger: 'test', createdBy: 'test' });
  const run = await claimRun(environment.context, { id });
  if (!run) throw new Error('not claimed');
  const [first, ...left] = (await planRun(environment.context, environment.client, run)).planned;
  if (!first) throw new Error('nothing planned');
  const bounds = { low: 'inclusive', high: 'inclusive' };
  await readOrCreateSetting(environment.context.db, 'list_bounds', () => Buffer.from(JSON.stringify(bounds)));
  return { run, first, left };
}

async function takeUp(environment: ReconciliationEnvironment, run: RunRef) {
  const past = new Date(Date.now() - 60_000);
  await environment.context.db.updateTable('runs').set({ lease_until: past }).where('seq', '=', run.seq).execute();
  const taken = await claimRun(environment.context, { id: run.id });
  if (!taken) throw new Error('not taken up');
  await executeRun(environment.context, environment.client, taken);
  return await findRun(environment.context.db, run.id);
}

test('a run that is killed while its windows are cut anew loses none of them', async () => {
  await using environment = await openReconciliationEnvironment();
  const { run, left } = await wideRun(environment);
  const dies = watchWrites(environment.context, 'run_windows', () => {
    throw new Error('killed');
  });
  await expect(replanRun(dies, run, left)).rejects.toThrow('killed');
  expect(await takeUp(environment, run)).toMatchObject({ state: 'complete', from: D26, to: D3, total: ROWS });
  expect(await environment.ids()).toHaveLength(ROWS);
});

test('only what follows is cut anew: a window before it that is not proven stays', async () => {
  await using environment = await openReconciliationEnvironment();
  const { run, first, left } = await wideRun(environment);
  const days = await replanRun(environment.context, run, left);
  expect(days[0]?.fromDay).toBe(left[0]?.fromDay);
  expect(days.every((window) => window.fromDay === window.toDay)).toBe(true);
  const { planned } = await planRun(environment.context, environment.client, run);
  expect(planned.map((window) => window.seq)).toEqual([first.seq, ...days.map((window) => window.seq)]);
});

test('a run is not called complete while a day of its range is in none of its windows', async () => {
  await using environment = await openReconciliationEnvironment();
  const { run, left } = await wideRun(environment);
  await environment.context.db
    .deleteFrom('run_windows')
    .where('seq', '=', left.at(-1)?.seq ?? 0)
    .execute();
  expect(await takeUp(environment, run)).toMatchObject({ state: 'failed', error: expect.stringMatching(/unexpected/) });
  const [alert] = await environment.context.db.selectFrom('alerts').select(['name', 'ended_at']).execute();
  expect(alert).toEqual({ name: 'run_failed', ended_at: null });
});
