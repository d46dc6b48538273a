import { expect, test } from 'vitest';
import { dayAgo, makeDay, makeRow, PLATFORM } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';

const [D4, D3] = [dayAgo(4), dayAgo(3)];
const SINCE = { WEBHOOKS_SINCE: new Date(Date.now() - 90 * 86_400_000).toISOString() };

const alertsOf = (environment: ReconciliationEnvironment, name: string) =>
  environment.context.db.selectFrom('alerts').selectAll().where('name', '=', name).orderBy('seq').execute();

test('many transactions absent from one reading are many mismatches and one alert, which ends with the last of them', async () => {
  await using environment = await openReconciliationEnvironment(SINCE);
  const rows = makeDay(D3, 140);
  environment.provider.add(...rows);
  await environment.reconcile(D3, D3);
  const gone = rows.slice(0, 120);
  for (const row of gone) environment.provider.rows.delete(row.id);
  const run = await environment.reconcile(D3, D3);
  expect(run.by_kind).toEqual({ missing_at_provider: 120 });
  const [alert, ...others] = await alertsOf(environment, 'missing_at_provider');
  expect(others).toEqual([]);
  expect(alert).toMatchObject({ severity: 'critical', scope: run.id, ended_at: null });
  expect(alert?.summary).toContain('120 of one cause');
  expect(alert?.summary).toContain('R$ 1200.00');
  environment.provider.add(...gone.slice(1));
  await environment.reconcile(D3, D3);
  expect((await alertsOf(environment, 'missing_at_provider'))[0]?.ended_at).toBeNull();
  environment.provider.add(...gone.slice(0, 1));
  await environment.reconcile(D3, D3);
  expect((await alertsOf(environment, 'missing_at_provider'))[0]?.ended_at).not.toBeNull();
});

test('webhooks that one run found lost are one alert', async () => {
  await using environment = await openReconciliationEnvironment({ ...SINCE, WEBHOOK_GRACE: '10m' });
  environment.provider.add(...makeDay(D3, 30));
  const run = await environment.reconcile(D3, D3);
  expect(run.by_kind).toEqual({ webhook_lost: 30 });
  expect(await alertsOf(environment, 'webhook_lost')).toMatchObject([{ scope: run.id, severity: 'medium' }]);
  expect((await environment.reconcile(D3, D3)).mismatches).toBe(0);
  expect(await alertsOf(environment, 'webhook_lost')).toHaveLength(1);
});

test('a day that one platform could not be read of is proven by a read of all', async () => {
  await using environment = await openReconciliationEnvironment(SINCE);
  environment.provider.add(makeRow({ created: `${D4} 10:00:00` }), makeRow({ created: `${D3} 10:00:00` }));
  environment.provider.switches.total = (count) => count + 3;
  await environment.reconcile(D4, D3, { platform: PLATFORM });
  expect(await environment.mismatches('list_unstable')).toMatchObject([
    { scope: `${D4} ${PLATFORM}`, state: 'open' },
    { scope: `${D3} ${PLATFORM}`, state: 'open' },
  ]);
  environment.provider.switches.total = (count) => count;
  await environment.reconcile(D4, D4);
  expect(await environment.mismatches('list_unstable')).toMatchObject([
    { scope: `${D4} ${PLATFORM}`, state: 'resolved', resolution: 'fresh_evidence' },
    { scope: `${D3} ${PLATFORM}`, state: 'open' },
  ]);
});

test('years of history at the first installation are listed, with one summary alert', async () => {
  await using environment = await openReconciliationEnvironment();
  const illegal = makeDay(D3, 40, { history: ['denied', 'paid'] });
  environment.provider.add(...illegal);
  expect((await environment.reconcile(D3, D3)).by_kind).toEqual({ illegal_transition: 40 });
  expect(await alertsOf(environment, 'illegal_transition')).toEqual([]);
  expect((await environment.mismatches()).every((one) => one.baseline === 1)).toBe(true);
});
