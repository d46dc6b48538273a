import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { fetchDueDoubted } from '../../../src/reconciliation/watches/fetch-doubted.ts';
import { dayAgo, makeRow } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';
import { readRows } from '../../support/read-rows.ts';

const D3 = dayAgo(3);

/** A refund that the list has, and then lacks. */
async function takenBack() {
  const environment = await openReconciliationEnvironment();
  const row = makeRow({ created: `${D3} 10:00:00`, history: ['paid', 'refund'] });
  environment.provider.add(row);
  await environment.reconcile(D3, D3);
  row.events.shift();
  row.status = 'paid';
  await environment.reconcile(D3, D3);
  return { environment, row };
}

/** As if a minute had passed since the last show. */
async function waitAMinute({ context }: ReconciliationEnvironment): Promise<void> {
  const ago = (ms: number) => new Date(context.clock.now().getTime() - ms);
  await context.db
    .updateTable('doubted_events')
    .set({ shown_without_at: ago(61_000), due_at: ago(1000) })
    .execute();
}

test('an event missing from a reading is fetched at once and again a minute later, then reported once', async () => {
  const { environment, row } = await takenBack();
  await using _ = environment;
  expect(await fetchDueDoubted(environment.context, environment.client)).toBe(1);
  expect(await fetchDueDoubted(environment.context, environment.client), 'the minute is not over').toBe(0);
  expect(await environment.mismatches()).toEqual([]);
  await waitAMinute(environment);
  expect(await fetchDueDoubted(environment.context, environment.client)).toBe(1);
  expect(await environment.mismatches()).toMatchObject([
    { kind: 'status_differs', severity: 'critical', state: 'open', scope: row.id },
  ]);
  expect(await fetchDueDoubted(environment.context, environment.client)).toBe(0);
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches()).toMatchObject([{ state: 'open', reopened: 0 }]);
  environment.provider.addEvent(row.id, 'refund', row.date_created.replace('10:00', '10:02'));
  await environment.reconcile(D3, D3);
  expect(await fetchDueDoubted(environment.context, environment.client)).toBe(1);
  expect(await environment.mismatches()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
});

test('one of two replicas fetches; an unavailable provider is asked again soon, an unknown id later', async () => {
  const { environment, row } = await takenBack();
  await using _ = environment;
  const other = await environment.replica();
  environment.provider.requests = [];
  const due = await Promise.all([
    fetchDueDoubted(environment.context, environment.client),
    fetchDueDoubted(other, environment.client),
  ]);
  expect(due[0] + due[1]).toBe(1);
  expect(environment.provider.count('show')).toBe(1);
  environment.provider.rows.delete(row.id);
  await waitAMinute(environment);
  await fetchDueDoubted(environment.context, environment.client);
  const [doubt] = await environment.context.db.selectFrom('doubted_events').select('due_at').execute();
  expect((doubt?.due_at?.getTime() ?? 0) - environment.context.clock.now().getTime()).toBeGreaterThan(1_800_000);
  expect(await environment.mismatches()).toEqual([]);
});

test('an unknown transaction is fetched ever less often, at least once a day', async () => {
  const { environment, row } = await takenBack();
  await using _ = environment;
  environment.provider.rows.delete(row.id);
  for (const [doubtedHours, waitsHours] of [
    [0, 1],
    [7, 7],
    [100, 24],
  ] as const) {
    const now = environment.context.clock.now();
    await environment.context.db
      .updateTable('doubted_events')
      .set({ noticed_at: new Date(now.getTime() - doubtedHours * 3_600_000), due_at: now })
      .execute();
    expect(await fetchDueDoubted(environment.context, environment.client)).toBe(1);
    const [doubt] = await environment.context.db.selectFrom('doubted_events').select('due_at').execute();
    const waits = (doubt?.due_at?.getTime() ?? 0) - now.getTime();
    expect(Math.round(waits / 60_000)).toBe(waitsHours * 60);
  }
});

test('a transaction that fails is deferred, and those behind it are fetched', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = [10, 11, 12].map((hour) => makeRow({ created: `${D3} ${hour}:00:00`, history: ['paid', 'refund'] }));
  environment.provider.add(...rows);
  await environment.reconcile(D3, D3);
  for (const row of rows) {
    row.events.shift();
    row.status = 'paid';
  }
  await environment.reconcile(D3, D3);
  const doubts = () =>
    readRows(environment.context.db, 'doubted_events', ['transaction_id', 'shown_without_at'], {}, ['due_at']);
  const [first] = await doubts();
  environment.provider.switches.fault = (seen) =>
    seen.path.endsWith(first?.transaction_id ?? '-') ? { status: 500 } : undefined;
  expect(await fetchDueDoubted(environment.context, environment.client)).toBe(3);
  const shown = (await doubts()).filter((doubt) => doubt.shown_without_at !== null);
  expect(shown).toHaveLength(2);
  expect(shown.map((doubt) => doubt.transaction_id)).not.toContain(first?.transaction_id);
  expect(await fetchDueDoubted(environment.context, environment.client), 'it is deferred').toBe(0);
});

/** A row whose own status is `paid` beside a history that ends in `pending`, met on a page of the list. */
async function againstItself(status = 'paid') {
  const environment = await openReconciliationEnvironment();
  const row = makeRow({ created: `${D3} 10:00:00` });
  row.status = status;
  environment.provider.add(row);
  await environment.reconcile(D3, D3);
  const settle = async () => {
    await fetchDueDoubted(environment.context, environment.client);
    await environment.context.db
      .updateTable('doubted_statuses')
      .set({
        shown_without_at: sql<Date>`DATE_SUB(shown_without_at, INTERVAL 61 SECOND)`,
        due_at: sql<Date>`DATE_SUB(due_at, INTERVAL 61 SECOND)`,
      })
      .execute();
  };
  return { environment, row, settle };
}

test('a row whose own status its history lacks is status_differs after two shows, and moves no money', async () => {
  const { environment, row, settle } = await againstItself();
  await using _ = environment;
  expect(await environment.mismatches(), 'a list proves nothing').toEqual([]);
  await settle();
  expect(await environment.mismatches(), 'nor does one show').toEqual([]);
  await settle();
  const expected = { kind: 'status_differs', severity: 'critical', state: 'open', scope: row.id, baseline: 0 };
  const [mismatch] = await environment.mismatches();
  expect(mismatch).toMatchObject(expected);
  expect(JSON.parse(mismatch?.actual ?? '')).toMatchObject({ status: 'paid', history: ['pending'] });
  expect(await environment.context.db.selectFrom('entries').select('seq').execute()).toEqual([]);
  expect(await fetchDueDoubted(environment.context, environment.client), 'it is reported and not fetched again').toBe(
    0,
  );
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches()).toMatchObject([{ state: 'open', reopened: 0 }]);
});

test('a later show that agrees with itself resolves it; a list row that agrees has it fetched', async () => {
  const { environment, row, settle } = await againstItself();
  await using _ = environment;
  await settle();
  await settle();
  environment.provider.addEvent(row.id, 'paid', `${D3} 10:05:00`);
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches()).toMatchObject([{ state: 'open' }]);
  expect(await fetchDueDoubted(environment.context, environment.client)).toBe(1);
  expect(await environment.mismatches()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  expect(await environment.context.db.selectFrom('doubted_statuses').selectAll().execute()).toEqual([]);
});

test('a row that agrees with itself in the next show raises nothing: it was being written', async () => {
  const { environment, row } = await againstItself();
  await using _ = environment;
  row.status = 'pending';
  expect(await fetchDueDoubted(environment.context, environment.client)).toBe(1);
  expect(await fetchDueDoubted(environment.context, environment.client)).toBe(0);
  expect(await environment.mismatches()).toEqual([]);
});

test('an unknown status on the row alone is reported at once, and resolved by a known one', async () => {
  const { environment, row } = await againstItself('partially_paid');
  await using _ = environment;
  expect(await environment.mismatches('unknown_status')).toMatchObject([
    { severity: 'high', state: 'open', scope: row.id },
  ]);
  row.status = 'pending';
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches('unknown_status')).toMatchObject([{ state: 'resolved' }]);
});

test('a row without a history neither confirms nor ends the doubt about its own status', async () => {
  const { environment, row, settle } = await againstItself();
  await using _ = environment;
  await settle();
  const history = row.events;
  row.events = [];
  await environment.reconcile(D3, D3);
  row.events = history;
  await settle();
  expect(await environment.mismatches('status_differs')).toMatchObject([{ scope: row.id, state: 'open' }]);
});
