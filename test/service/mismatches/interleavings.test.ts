/** Mismatches that are raised or resolved on what was read, while another transaction changes it. */
import { expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import { findQuarantines, raiseQuarantine, resolveQuarantine } from '../../../src/inbox/items/quarantine.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { storeRefusedRows } from '../../../src/ledger/apply/store-refused-rows.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { fetchAbsent } from '../../../src/reconciliation/windows/fetch-by-id.ts';
import { finishWindow } from '../../../src/reconciliation/windows/finish-window.ts';
import { eventually } from '../../support/eventually.ts';
import { holdReads } from '../../support/failing-database.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import { openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { openReconciliationEnvironment } from '../../support/open-reconciliation-environment.ts';
import { makeShownTransaction, observeNow, readMismatchRows } from '../../support/read-ledger-state.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

const D3 = dayAgo(3);

/** Two transactions that a complete reading lacks. `beforeSecond` runs between their shows. */
async function fetchTwoAbsent(
  prepare: (environment: Awaited<ReturnType<typeof openReconciliationEnvironment>>, first: string) => void,
  beforeSecond: (
    environment: Awaited<ReturnType<typeof openReconciliationEnvironment>>,
    first: string,
  ) => Promise<void>,
) {
  const environment = await openReconciliationEnvironment();
  const { context, client, provider } = environment;
  provider.add(...makeDay(D3, 2));
  const { id } = await environment.reconcile(D3, D3);
  const [first, second] = (
    await context.db.selectFrom('transactions').select('id').orderBy('created_wall').execute()
  ).map((row) => row.id);
  if (!first || !second) throw new Error('no rows');
  prepare(environment, first);
  provider.switches.beforeResponse = async (seen) => {
    if (seen.path.endsWith(second)) await beforeSecond(environment, first);
  };
  const run = await context.db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const ref = { seq: run.seq, id, from: D3, to: D3, platform: null, holder: 'test', how: null };
  await fetchAbsent(
    context,
    client,
    ref as never,
    { fromDay: D3, toDay: D3 },
    { ids: new Set(), askedAt: context.clock.now() },
    { checkLease: () => undefined },
  );
  return { environment, first };
}

test('an older show does not resolve a missing_at_provider that was raised on a newer one', async () => {
  const { environment, first } = await fetchTwoAbsent(
    () => undefined,
    async ({ context }, id) => {
      await transact(context.db, (trx) =>
        raiseMismatches(trx, [{ kind: 'missing_at_provider', scope: id, transactionId: id }], context.clock.now()),
      );
    },
  );
  await using _ = environment;
  expect((await environment.mismatches('missing_at_provider')).filter(({ scope }) => scope === first)).toMatchObject([
    { state: 'open' },
  ]);
});

test('a 404 raises no missing_at_provider for a transaction that the provider has shown since', async () => {
  const { environment, first } = await fetchTwoAbsent(
    ({ provider }, id) => provider.rows.delete(id),
    async ({ context }, id) => {
      const row = makeShownTransaction(['pending@0', 'refund@9'], { id });
      await applyObservations(context, [observeNow(context, row)]);
    },
  );
  await using _ = environment;
  expect((await environment.mismatches('missing_at_provider')).filter(({ scope }) => scope === first)).toEqual([]);
});

test('a refused row that is found again while its end is evaluated stays open', async () => {
  await using environment = await openReconciliationEnvironment();
  const { context } = environment;
  const refuse = () =>
    storeRefusedRows(context, [
      { id: null, raw: '{}', reason: 'no id', source: { kind: 'list', page: 1 } as never, days: { from: D3, to: D3 } },
    ]);
  await refuse();
  await environment.timers.advance(1_000);
  await environment.reconcile(D3, D3);
  const [mismatch] = await environment.mismatches('row_refused');
  expect(mismatch).toMatchObject({ state: 'resolved' });

  await refuse();
  await environment.timers.advance(1_000);
  const { seq: windowSeq } = await context.db.selectFrom('run_windows').select('seq').executeTakeFirstOrThrow();
  const reads = holdReads(context, 'mismatches');
  reads.hold();
  const result = { state: 'complete', passes: 1, total: 0, seen: 0, surplus: 0, askedAt: context.clock.now() };
  const run = { seq: 1, id: 'run', platform: null };
  const window = { seq: windowSeq, fromDay: D3, toDay: D3 };
  const finished = finishWindow(reads.context, run as never, window as never, result as never);
  await eventually('the evaluation has read', () => reads.held() === 1);
  const open = await readMismatchRows(context, 'row_refused');
  await resolveMismatchByHand(context, open[0]?.id ?? '', { actor: 'tok_1', note: 'seen' });
  await environment.timers.advance(1_000);
  const actual = { reason: 'another', days: { from: D3, to: D3 } };
  await transact(context.db, (trx) =>
    raiseMismatches(trx, [{ kind: 'row_refused', scope: mismatch?.scope ?? '', actual }], context.clock.now()),
  );
  reads.release();
  await finished;
  expect(await environment.mismatches('row_refused')).toMatchObject([{ state: 'open' }]);
});

test('a webhook that is quarantined while the mismatch of its reason is resolved has an open mismatch', async () => {
  await using own = await openInboxEnvironment();
  const { context } = own;
  const seqs: number[] = [];
  for (const id of [30, 31]) {
    const received = await own.receive({ id, status: 'paid' });
    seqs.push((await own.waitForState(received.id, 'quarantined')).seq);
  }
  const [first = 0, second = 0] = seqs;
  const set = (seq: number, state: string) =>
    context.db.updateTable('webhooks').set({ state, reason: null }).where('seq', '=', seq).execute();
  await set(first, 'applied');
  await set(second, 'pending');
  const reads = holdReads(context, 'webhooks');
  reads.hold();
  const named = await findQuarantines(context.db, [first]);
  const resolved = transact(reads.context.db, (trx) => resolveQuarantine(trx, named, context.clock.now()));
  await eventually('the next webhook was searched', () => reads.held() === 1);
  const quarantined = transact(context.db, async (trx) => {
    await raiseQuarantine(context, trx, [{ seq: second, reason: 'no_key' }]);
    const state = { state: 'quarantined', reason: 'no_key' };
    await trx.updateTable('webhooks').set(state).where('seq', '=', second).execute();
  });
  await Promise.race([quarantined, waitForLockWaits(context)]);
  reads.release();
  await Promise.all([resolved, quarantined]);
  expect(await readMismatchRows(context, 'webhook_quarantined')).toMatchObject([{ state: 'open' }]);
});
