import { describe, expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import { refreshMismatchAlerts } from '../../../src/mismatches/alert-mismatches.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { resolveMismatches } from '../../../src/mismatches/resolve-mismatches.ts';
import { dayAgo, makeDay, makeRow, PLATFORM } from '../../support/make-provider-rows.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { readRows } from '../../support/read-rows.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

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
  expect(alert?.summary).toContain('120 mismatches of one cause');
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

describe('mismatches that are found without a run', () => {
  const KIND = 'field_unreadable';
  const raise = async ({ context }: TestEnvironment, scope: string, more: object = {}) =>
    await transact(
      context.db,
      (trx) => raiseMismatches(trx, [{ kind: KIND, scope, amountCents: 250n, ...more }], context.clock.now()),
      { retryDuplicates: true },
    );
  const resolve = ({ context }: TestEnvironment, scope: string) =>
    transact(context.db, (trx) =>
      resolveMismatches(trx, [{ kind: KIND, scope }], 'fresh_evidence', context.clock.now()),
    );
  const readAlerts = ({ context }: TestEnvironment) =>
    context.db.selectFrom('alerts').selectAll().where('name', '=', KIND).orderBy('seq').execute();

  test('are one alert an hour for each severity; it counts what is open, and ends with the last of them', async () => {
    await using environment = await openEnvironment();
    await Promise.all(Array.from({ length: 20 }, (_, index) => raise(environment, `row ${index}`)));
    await environment.timers.advance(3_500_000);
    await raise(environment, 'row 20');
    await raise(environment, 'grave', { severity: 'critical' });
    await refreshMismatchAlerts(environment.context);
    const [alert, critical, ...others] = await readAlerts(environment);
    expect(others).toEqual([]);
    expect(alert).toMatchObject({
      severity: 'medium',
      scope: expect.stringMatching(/^medium .*T\d\dZ$/),
      ended_at: null,
    });
    expect(alert?.summary).toContain('21 mismatches of one cause');
    expect(alert?.summary).toContain('R$ 52.50');
    expect(critical).toMatchObject({ severity: 'critical', summary: expect.stringContaining('grave') });

    for (let index = 0; index < 20; index++) await resolve(environment, `row ${index}`);
    await refreshMismatchAlerts(environment.context);
    const last = await readRows(environment.context.db, 'mismatches', ['id'], { scope: 'row 20' });
    expect((await readAlerts(environment))[0]).toMatchObject({
      ...{ summary: `${KIND}: row 20, R$ 2.50 at stake`, ended_at: null },
      mismatch_id: last[0]?.id,
    });
    await resolve(environment, 'row 20');
    expect((await readAlerts(environment))[0]?.ended_at).not.toBeNull();
    await raise(environment, 'row 21');
    const after = await readAlerts(environment);
    expect(after).toHaveLength(3);
    expect(after[2], 'another page').toMatchObject({ ended_at: null });
    await environment.timers.advance(3_601_000);
    await raise(environment, 'row 22');
    await refreshMismatchAlerts(environment.context);
    expect(await readAlerts(environment), 'one that waits for a person hides no new one').toMatchObject([
      ...[{}, {}],
      { ended_at: null, summary: expect.stringContaining('row 21') },
      { ended_at: null, summary: expect.stringContaining('row 22') },
    ]);
  });

  test('keep their alert when one joins while the last other one is resolved', async () => {
    await using environment = await openEnvironment();
    const { context } = environment;
    await raise(environment, 'first');
    const [joined, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const joining = transact(context.db, async (trx) => {
      await raiseMismatches(trx, [{ kind: KIND, scope: 'second' }], context.clock.now());
      joined.resolve();
      await commit.promise;
    });
    await joined.promise;
    const resolving = resolve(environment, 'first');
    await waitForLockWaits(context);
    commit.resolve();
    await Promise.all([joining, resolving]);
    expect(await readAlerts(environment)).toMatchObject([{ ended_at: null }]);
    await resolve(environment, 'second');
    expect((await readAlerts(environment))[0]?.ended_at).not.toBeNull();
  });

  test('end their alert with the next watch if two processes resolve the last two at once', async () => {
    await using environment = await openEnvironment();
    const { context } = environment;
    await raise(environment, 'one');
    await raise(environment, 'two');
    const [resolved, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = transact(context.db, async (trx) => {
      await resolveMismatches(trx, [{ kind: KIND, scope: 'one' }], 'fresh_evidence', context.clock.now());
      resolved.resolve();
      await commit.promise;
    });
    await resolved.promise;
    await resolve(environment, 'two');
    commit.resolve();
    await first;
    await refreshMismatchAlerts(context);
    expect((await readAlerts(environment))[0]?.ended_at).not.toBeNull();
  });
});
