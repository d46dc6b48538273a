import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { storeRefusedRows } from '../../../src/ledger/apply/store-refused-rows.ts';
import { resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { claimRun } from '../../../src/reconciliation/runs/claim-run.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { acceptMismatchOrSurplus } from '../../../src/reconciliation/windows/accept-surplus.ts';
import { fetchAbsent } from '../../../src/reconciliation/windows/fetch-by-id.ts';
import { resolveSeenMismatches } from '../../../src/reconciliation/windows/resolve-seen-mismatches.ts';
import { classifyDay } from '../../../src/reports/revisions/classify-day.ts';
import { LeaseLostError } from '../../../src/runtime/hold-lease.ts';
import { dayAgo, makeDay, makeRow } from '../../support/make-provider-rows.ts';
import { openReconciliationEnvironment } from '../../support/open-reconciliation-environment.ts';
import { readRow } from '../../support/read-rows.ts';

const [D4, D3, D2] = [dayAgo(4), dayAgo(3), dayAgo(2)];
/** How many are held against a reading at once here. */
const HELD_MAX = 50;

test('ours that the list leaves out and show does not know is missing, until it is listed again as it was', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = makeDay(D3, 5);
  environment.provider.add(...rows);
  await environment.reconcile(D3, D3);
  const [gone] = rows;
  if (!gone) throw new Error('no row');
  environment.provider.rows.delete(gone.id);
  const run = await environment.reconcile(D3, D3);
  expect(run).toMatchObject({ state: 'complete', total: 4, mismatches: 1, by_kind: { missing_at_provider: 1 } });
  expect(await environment.mismatches()).toMatchObject([
    { kind: 'missing_at_provider', severity: 'critical', state: 'open', transaction_id: gone.id },
  ]);
  expect((await environment.reconcile(D3, D3)).mismatches, 'the same one is not raised again').toBe(0);
  environment.provider.add(gone);
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  environment.provider.rows.delete(gone.id);
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches()).toMatchObject([{ state: 'open', reopened: 1 }]);
});

test('a mismatch that a person resolved is raised again after the provider corrected it in between', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = makeDay(D3, 5);
  environment.provider.add(...rows);
  const [gone, unlisted] = rows;
  if (!gone || !unlisted) throw new Error('no row');
  const vanish = () => {
    environment.provider.rows.delete(gone.id);
    environment.provider.unlisted.add(unlisted.id);
    return environment.reconcile(D3, D3);
  };
  await environment.reconcile(D3, D3);
  await vanish();
  for (const { id } of await environment.context.db.selectFrom('mismatches').select('id').execute()) {
    await resolveMismatchByHand(environment.context, id, { actor: 'tok_1', note: 'they are on it' });
  }
  expect((await vanish()).mismatches, 'not raised again while nothing changes').toBe(0);
  environment.provider.add(gone);
  environment.provider.unlisted.clear();
  await environment.reconcile(D3, D3);
  await vanish();
  expect(await environment.mismatches('missing_at_provider')).toMatchObject([{ state: 'open', reopened: 1 }]);
  expect(await environment.mismatches('list_omission')).toMatchObject([{ state: 'open', reopened: 1 }]);
});

test('list_unstable that a person resolved is raised again for a day that was proven in between', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...makeDay(D3, 130));
  const read = (more: number) => {
    environment.provider.switches.total = (count) => count + more;
    return environment.reconcile(D3, D3);
  };
  await read(3);
  const [one] = await environment.context.db.selectFrom('mismatches').select('id').execute();
  await resolveMismatchByHand(environment.context, one?.id ?? '', { actor: 'tok_1', note: 'a bad night' });
  await read(3);
  expect(await environment.mismatches('list_unstable')).toMatchObject([{ state: 'resolved' }]);
  await read(0);
  await read(3);
  expect(await environment.mismatches('list_unstable')).toMatchObject([{ state: 'open', reopened: 1 }]);
});

test('a missing one that show knows again, but the list does not, becomes an omission of the list', async () => {
  await using environment = await openReconciliationEnvironment();
  const [row] = makeDay(D3, 1);
  if (!row) throw new Error('no row');
  environment.provider.add(row);
  await environment.reconcile(D3, D3);
  environment.provider.rows.delete(row.id);
  await environment.reconcile(D3, D3);
  environment.provider.add(row);
  environment.provider.unlisted.add(row.id);
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches()).toMatchObject([
    { kind: 'missing_at_provider', state: 'resolved' },
    { kind: 'list_omission', state: 'open', severity: 'medium' },
  ]);
});

test('ours that the list leaves out and show knows is a list_omission, until a complete read has it', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = makeDay(D3, 5);
  environment.provider.add(...rows);
  await environment.reconcile(D3, D3);
  environment.provider.unlisted.add(rows[2]?.id ?? '');
  expect(await environment.reconcile(D3, D3)).toMatchObject({ total: 4, by_kind: { list_omission: 1 } });
  environment.provider.unlisted.clear();
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches('list_omission')).toMatchObject([
    { state: 'resolved', resolution: 'fresh_evidence' },
  ]);
});

test('another creation day at the provider is raised once, as reference_differs, and the row counts as present', async () => {
  await using environment = await openReconciliationEnvironment();
  const [row, ...rest] = makeDay(D3, 5);
  if (!row) throw new Error('no row');
  environment.provider.add(row, ...rest, ...makeDay(D2, 3));
  await environment.reconcile(D4, D2);
  row.date_created = `${D2} 08:00:00`;
  for (let run = 0; run < 3; run++) {
    await environment.reconcile(D3, D3);
    await environment.reconcile(D2, D2);
  }
  const mismatches = await environment.mismatches();
  expect(mismatches).toMatchObject([{ kind: 'reference_differs', scope: row.id, state: 'open', reopened: 0 }]);
  expect(JSON.parse(mismatches[0]?.actual ?? '')).toEqual({ date_created: row.date_created });
  // gone altogether, it is missing all the same
  environment.provider.rows.delete(row.id);
  await environment.reconcile(D3, D3);
  expect((await environment.mismatches()).map((one) => one.kind)).toEqual(['reference_differs', 'missing_at_provider']);
});

test('a surplus that a person accepts proves the day while it stays the same', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...makeDay(D3, 130));
  const read = (more: number) => {
    environment.provider.switches.total = (count) => count + more;
    return environment.reconcile(D3, D3);
  };
  expect(await read(3)).toMatchObject({ state: 'incomplete', total: 133, seen: 130 });
  const unstable = () =>
    readRow(environment.context.db, 'mismatches', ['id', 'actual', 'state', 'resolution', 'reopened'], {
      kind: 'list_unstable',
    });
  const { id, actual } = await unstable();
  expect(JSON.parse(actual ?? '')).toMatchObject({ passes: 5, surplus: 3 });
  const { context } = environment;
  const by = { actor: 'tok_1', note: 'their panel shows 130' };
  await expect(acceptMismatchOrSurplus(context, id, { ...by, actual: { surplus: 4 } })).rejects.toMatchObject({
    code: 'conflict',
  });
  await acceptMismatchOrSurplus(context, id, { ...by, actual: JSON.parse(actual ?? '') });
  expect(await unstable()).toMatchObject({ state: 'resolved', resolution: 'accepted' });
  const classify = async () => await classifyDay(context.db, D3, context.clock.now(), context.calendar);
  expect((await classify()).reading?.surplus).toMatchObject({ count: 3, actor: 'tok_1' });
  expect(await read(3)).toMatchObject({ state: 'complete', passes: 2, total: 133, seen: 130 });
  // another number is another surplus, and none needs nobody's word
  expect(await read(4)).toMatchObject({ state: 'incomplete', by_kind: { list_unstable: 1 } });
  expect(await unstable()).toMatchObject({ state: 'open', reopened: 1 });
  expect(await read(0)).toMatchObject({ state: 'complete', passes: 1 });
  expect(await unstable()).toMatchObject({ state: 'resolved', resolution: 'fresh_evidence' });
  await expect(
    sql`UPDATE accepted_surpluses SET surplus = 9`.execute(context.db),
    'what was accepted is never changed',
  ).rejects.toThrow(/append-only/);
});

test('without a surplus that is the same in all passes there is nothing to accept', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...makeDay(D3, 130));
  let answers = 0;
  environment.provider.switches.total = (count) => count + (++answers % 2);
  await environment.reconcile(D3, D3);
  const { id, actual } = await readRow(environment.context.db, 'mismatches', ['id', 'actual']);
  const by = { actor: 'tok_1', note: undefined, actual: JSON.parse(actual ?? 'null') };
  const accepting = acceptMismatchOrSurplus(environment.context, id, by);
  await expect(accepting).rejects.toMatchObject({ code: 'conflict' });
});

test('a refused row without an id ends once a complete reading of its day meets none such', async () => {
  await using environment = await openReconciliationEnvironment();
  const [bad, ...rest] = makeDay(D3, 5);
  if (!bad) throw new Error('no row');
  environment.provider.add(bad, ...rest);
  environment.provider.patches.set(bad.id, { id: [] });
  await environment.reconcile(D3, D3);
  const refusals = () => environment.mismatches('row_refused');
  expect(await refusals()).toMatchObject([{ state: 'open', transaction_id: null }]);
  // another day's reading, and one that meets it again, say nothing of it
  await environment.reconcile(D2, D2);
  await environment.reconcile(D3, D3);
  expect(await refusals()).toMatchObject([{ state: 'open' }]);
  environment.provider.patches.clear();
  expect(await environment.reconcile(D3, D3)).toMatchObject({ state: 'complete' });
  expect(await refusals()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
});

test('one that a version without days on its refusals wrote ends by a reading of its run’s days', async () => {
  await using environment = await openReconciliationEnvironment();
  const [bad, ...rest] = makeDay(D3, 5);
  if (!bad) throw new Error('no row');
  environment.provider.add(bad, ...rest);
  environment.provider.patches.set(bad.id, { id: [] });
  await environment.reconcile(D3, D3);
  await environment.context.db
    .updateTable('mismatches')
    .set({ actual: JSON.stringify({ reason: 'id: no text' }) })
    .where('kind', '=', 'row_refused')
    .execute();
  environment.provider.patches.clear();
  await environment.reconcile(D2, D2);
  expect(await environment.mismatches('row_refused')).toMatchObject([{ state: 'open' }]);
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches('row_refused')).toMatchObject([{ state: 'resolved' }]);
});

test('every absent transaction of a large day is found, also where all were created in one second', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = Array.from({ length: 2 * HELD_MAX + 2 }, () => makeRow({ created: `${D3} 12:00:00` }));
  environment.provider.add(...rows, makeRow({ created: `${D3} 13:00:00` }));
  await environment.reconcile(D3, D3);
  const ids = [...environment.provider.rows.keys()].sort();
  const ofOneSecond = rows.map((row) => row.id).sort();
  const left = [0, HELD_MAX - 2, HELD_MAX - 1, HELD_MAX, -1].flatMap((index) => ofOneSecond.at(index) ?? []);
  const { id } = await startRun(environment.context, { from: D3, to: D3, trigger: 'test', createdBy: 'test' });
  const run = await claimRun(environment.context, { id });
  if (!run) throw new Error('not claimed');
  const reading = { ids: new Set(ids.filter((one) => !left.includes(one))), askedAt: environment.context.clock.now() };
  const options = { checkLease: () => undefined, storedMax: HELD_MAX };
  await fetchAbsent(environment.context, environment.client, run, { fromDay: D3, toDay: D3 }, reading, options);
  const found = await environment.mismatches('list_omission');
  expect(found.map((one) => one.scope).sort()).toEqual(left);
});

test('a window fetches a bounded number of absent transactions, others with each reading, and none without its lease', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(...makeDay(D3, 12));
  await environment.reconcile(D3, D3);
  const { id } = await startRun(environment.context, { from: D3, to: D3, trigger: 'test', createdBy: 'test' });
  const run = await claimRun(environment.context, { id });
  if (!run) throw new Error('not claimed');
  let checks = 0;
  const settle = async (checkLease: () => void) => {
    const reading = { ids: new Set<string>(), askedAt: environment.context.clock.now() };
    const options = { checkLease, showsMax: 5 };
    await fetchAbsent(environment.context, environment.client, run, { fromDay: D3, toDay: D3 }, reading, options);
  };
  const lost = () => {
    if (++checks > 2) throw new LeaseLostError('not ours any more');
  };
  environment.provider.requests = [];
  await expect(settle(lost)).rejects.toThrow(LeaseLostError);
  expect(environment.provider.count('show')).toBe(2);
  expect(await environment.mismatches()).toEqual([]);
  for (const reported of [5, 10, 12]) {
    await settle(() => undefined);
    expect(await environment.mismatches('list_omission')).toHaveLength(reported);
  }
});

test('a run that proved nothing concludes nothing about absence, and raises list_unstable for each ended day', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = [...makeDay(D4, 130), ...makeDay(D3, 130), ...makeDay(D2, 5)];
  environment.provider.add(...rows);
  await environment.reconcile(D4, D2);
  environment.provider.rows.delete(rows[0]?.id ?? '');
  environment.provider.switches.total = (count) => count + 3;
  const run = await environment.reconcile(D4, D3);
  expect(run).toMatchObject({ state: 'incomplete', passes: 5, mismatches: 2, by_kind: { list_unstable: 2 } });
  expect(run.error).toMatch(/ids were seen of/);
  expect(await environment.mismatches()).toMatchObject([
    { kind: 'list_unstable', scope: D4, severity: 'high', state: 'open' },
    { kind: 'list_unstable', scope: D3, severity: 'high', state: 'open' },
  ]);
  environment.provider.switches.total = (count) => count;
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches('list_unstable')).toMatchObject([
    { scope: D4, state: 'open' },
    { scope: D3, state: 'resolved', resolution: 'fresh_evidence' },
  ]);
});

test('a running day that can not be proven is no list_unstable', async () => {
  await using environment = await openReconciliationEnvironment();
  environment.provider.add(makeRow());
  environment.provider.switches.total = (count) => count + 3;
  expect(await environment.reconcile(dayAgo(0), dayAgo(0))).toMatchObject({ state: 'incomplete', mismatches: 0 });
});

test('an unreadable row is kept raw and raises row_refused; its page and run continue', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = makeDay(D3, 5);
  const [bad] = rows;
  if (!bad) throw new Error('no row');
  environment.provider.add(...rows);
  environment.provider.patches.set(bad.id, { amount: '1.005' });
  expect(await environment.reconcile(D3, D3)).toMatchObject({
    state: 'complete',
    total: 5,
    applied: 4,
    by_kind: { row_refused: 1 },
  });
  expect(await environment.mismatches()).toMatchObject([
    { kind: 'row_refused', state: 'open', scope: bad.id, severity: 'high' },
  ]);
  const kept = await environment.context.db.selectFrom('refused_rows').select(['raw', 'transaction_id']).execute();
  expect(JSON.parse(String(kept[0]?.raw))).toMatchObject({ id: bad.id, amount: '1.005' });
  environment.provider.patches.clear();
  expect(await environment.reconcile(D3, D3)).toMatchObject({ applied: 1 });
  expect(await environment.mismatches()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
});

test('a known row that could not be read for a while and then is as it was resolves its row_refused', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = makeDay(D3, 3);
  environment.provider.add(...rows);
  await environment.reconcile(D3, D3);
  environment.provider.patches.set(rows[1]?.id ?? '', { date_created: 'yesterday' });
  expect(await environment.reconcile(D3, D3)).toMatchObject({
    state: 'complete',
    total: 3,
    by_kind: { row_refused: 1 },
  });
  environment.provider.patches.clear();
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches()).toMatchObject([{ kind: 'row_refused', state: 'resolved' }]);
});

test('a refused row of a neighbouring day is not this window’s', async () => {
  await using environment = await openReconciliationEnvironment();
  const [ours, theirs] = [makeDay(D3, 3), makeDay(D2, 3)];
  environment.provider.add(...ours, ...theirs);
  environment.provider.patches.set(theirs[0]?.id ?? '', { amount: 'ten' });
  expect(await environment.reconcile(D3, D3)).toMatchObject({ state: 'complete', total: 3, mismatches: 0 });
});

test('rows without a readable id prove nothing, and raise row_refused', async () => {
  await using environment = await openReconciliationEnvironment();
  const rows = makeDay(D3, 3);
  environment.provider.add(...rows);
  environment.provider.patches.set(rows[0]?.id ?? '', { id: null });
  expect(await environment.reconcile(D3, D3)).toMatchObject({
    state: 'incomplete',
    applied: 2,
    by_kind: { row_refused: 1, list_unstable: 1 },
  });
});

test('a row from before WEBHOOKS_SINCE that never could be read is baseline; one that could be is news', async () => {
  await using environment = await openReconciliationEnvironment({
    WEBHOOKS_SINCE: new Date(Date.now() - 60_000).toISOString(),
  });
  const [old, known] = makeDay(D3, 2);
  environment.provider.add(...[old, known].flatMap((row) => row ?? []));
  environment.provider.patches.set(old?.id ?? '', { amount: '1.005' });
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches('row_refused')).toMatchObject([{ scope: old?.id, baseline: 1 }]);
  environment.provider.patches.set(known?.id ?? '', { amount: '1.005' });
  await environment.reconcile(D3, D3);
  expect(await environment.mismatches('row_refused')).toMatchObject([
    { baseline: 1 },
    { scope: known?.id, baseline: 0 },
  ]);
});

test('a reading that began before a row was refused does not resolve it', async () => {
  await using environment = await openReconciliationEnvironment();
  await storeRefusedRows(environment.context, [{ id: 'row-1', raw: '{}', reason: 'amount', source: { kind: 'show' } }]);
  const see = (askedAt: Date) =>
    resolveSeenMismatches(environment.context, { readable: new Set(['row-1']), listed: new Map(), askedAt });
  await see(new Date(0));
  expect(await environment.mismatches('row_refused')).toMatchObject([{ state: 'open' }]);
  await see(environment.context.clock.now());
  expect(await environment.mismatches('row_refused')).toMatchObject([{ state: 'resolved' }]);
});
