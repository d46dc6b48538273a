import { expect, test } from 'vitest';
import { watchStuck } from '../../../src/reconciliation/watches/watch-stuck.ts';
import { makeRow, type ProviderRow, wallAgo } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { interruptAfterRow } from '../../support/read-ledger-state.ts';

const [MINUTE, HOUR] = [60_000, 3_600_000];
const SINCE = { WEBHOOKS_SINCE: new Date(Date.now() - 90 * 86_400_000).toISOString() };

function openFor(ms: number, operation: string, ...history: string[]): ProviderRow {
  return makeRow({ created: wallAgo(ms), operation, history });
}

async function watchAll(environment: ReconciliationEnvironment, rows: ProviderRow[]): Promise<void> {
  environment.provider.add(...rows);
  const days = rows.map((row) => row.date_created.slice(0, 10)).sort();
  await environment.reconcile(days[0] ?? '', wallAgo(0).slice(0, 10));
  await watchStuck(environment.context);
}

test.each<[string, string, string[], number, string | undefined]>([
  ['a pending cashout after 15 minutes', 'cashout', [], 16 * MINUTE, 'critical'],
  ['a cashout in analysis after 15 minutes', 'cashout', ['in_analysis'], 16 * MINUTE, 'critical'],
  ['a cashout in a status that nobody knows', 'cashout', ['partially_paid'], 16 * MINUTE, 'critical'],
  ['a cashin in process after a day', 'cashin', ['in_process'], 25 * HOUR, 'medium'],
  ['a cashin in analysis after a day', 'cashin', ['in_analysis'], 25 * HOUR, 'medium'],
  ['a cashout of 14 minutes', 'cashout', [], 14 * MINUTE, undefined],
  ['a paid cashout', 'cashout', ['paid'], 25 * HOUR, undefined],
  ['a cashin in process for 23 hours', 'cashin', ['in_process'], 23 * HOUR, undefined],
  ['a cashin that was only ever pending', 'cashin', [], 30 * 24 * HOUR, undefined],
])('%s: %s %s', async (_, operation, history, age, severity) => {
  await using environment = await openReconciliationEnvironment(SINCE);
  const row = openFor(age, operation, ...history);
  await watchAll(environment, [row]);
  const found = await environment.mismatches('stuck');
  expect(found).toMatchObject(severity ? [{ severity, state: 'open', scope: row.id, baseline: 0 }] : []);
});

test('it is raised once, and resolved by a final status', async () => {
  await using environment = await openReconciliationEnvironment(SINCE);
  const row = openFor(20 * MINUTE, 'cashout', 'in_process');
  await watchAll(environment, [row]);
  await watchStuck(environment.context);
  const alerts = await environment.context.db.selectFrom('alerts').select('name').where('name', '=', 'stuck').execute();
  expect(alerts).toHaveLength(1);
  environment.provider.addEvent(row.id, 'denied');
  await environment.reconcile(row.date_created.slice(0, 10), wallAgo(0).slice(0, 10));
  expect(await environment.mismatches('stuck')).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  await watchStuck(environment.context);
  expect(await environment.mismatches('stuck')).toMatchObject([{ state: 'resolved' }]);
});

test('a transaction open since before WEBHOOKS_SINCE is baseline, without an alert', async () => {
  await using environment = await openReconciliationEnvironment({
    WEBHOOKS_SINCE: new Date(Date.now() - 10 * MINUTE).toISOString(),
  });
  await watchAll(environment, [openFor(20 * MINUTE, 'cashout')]);
  expect(await environment.mismatches('stuck')).toMatchObject([{ baseline: 1 }]);
  expect(
    await environment.context.db.selectFrom('alerts').select('name').where('name', '=', 'stuck').execute(),
  ).toEqual([]);
});

test('any number of transactions that a person resolved does not hide the next one', async () => {
  await using environment = await openReconciliationEnvironment(SINCE);
  const old = Array.from({ length: 501 }, () => openFor(3 * 24 * HOUR, 'cashout'));
  await watchAll(environment, old);
  expect(await environment.mismatches('stuck')).toHaveLength(501);
  // as `confere mismatches resolve` leaves each of them
  await environment.context.db
    .updateTable('mismatches')
    .set((eb) => ({
      kept_scope: eb.ref('open_scope'),
      open_scope: null,
      state: 'resolved',
      resolution: 'by_hand',
      resolved_at: new Date(),
    }))
    .execute();
  const fresh = openFor(20 * MINUTE, 'cashout');
  await watchAll(environment, [fresh]);
  expect((await environment.mismatches('stuck')).filter((row) => row.state === 'open')).toMatchObject([
    { scope: fresh.id },
  ]);
  // kept in its status, raised again in another status
  const moved = old[0];
  environment.provider.addEvent(moved?.id ?? '', 'in_analysis');
  await environment.reconcile(wallAgo(4 * 24 * HOUR).slice(0, 10), wallAgo(0).slice(0, 10));
  await watchStuck(environment.context);
  const open = (await environment.mismatches('stuck')).filter((row) => row.state === 'open').map((row) => row.scope);
  expect(new Set(open)).toEqual(new Set([fresh.id, moved?.id]));
});

test('all transactions from before WEBHOOKS_SINCE come after the fresh ones', async () => {
  await using environment = await openReconciliationEnvironment({
    WEBHOOKS_SINCE: new Date(Date.now() - HOUR).toISOString(),
  });
  const old = Array.from({ length: 501 }, () => openFor(3 * 24 * HOUR, 'cashout'));
  const fresh = openFor(20 * MINUTE, 'cashout');
  await watchAll(environment, [...old, fresh]);
  const found = await environment.mismatches('stuck');
  expect(found[0]).toMatchObject({ scope: fresh.id, baseline: 0 });
  expect(found.filter((row) => row.baseline === 1)).toHaveLength(501);
});

test('a transaction that ends while it is being raised is not raised', async () => {
  await using environment = await openReconciliationEnvironment(SINCE);
  const row = openFor(20 * MINUTE, 'cashout');
  environment.provider.add(row);
  const day = row.date_created.slice(0, 10);
  await environment.reconcile(day, day);
  const context = interruptAfterRow(
    environment.context,
    (read) => (read as { id?: string }).id === row.id,
    async () => {
      environment.provider.addEvent(row.id, 'paid');
      await environment.reconcile(day, day);
    },
  );
  await watchStuck(context);
  expect(await environment.mismatches('stuck')).toEqual([]);
});
