import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { watch } from '../../../jobs/watch.ts';
import { retryLearntItems } from '../../../src/inbox/verify/retry-learnt-items.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { type InboxEnvironment, openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { makeShownTransaction, readMismatchRows } from '../../support/read-ledger-state.ts';

const environment = closeAfterAll(await openInboxEnvironment());

const make = (more: Partial<ShownTransaction> = {}) =>
  makeShownTransaction(['pending@0', 'paid@1'], { id: randomUUID(), ...more });

/** A run learns these, also where the provider's show knows them no more. */
const learn = (own: InboxEnvironment, ...rows: ShownTransaction[]) =>
  applyObservations(
    own.context,
    rows.map((row) => observe(row, own.context.clock.now())),
  );

async function quarantine(own: InboxEnvironment, body: object) {
  const { id } = await own.receive({ ...body, status: 'paid' });
  return await own.waitForState(id, 'quarantined');
}

test.each<[string, (row: ShownTransaction) => object]>([
  ['extra', (row) => ({ extra: row.extra })],
  ['reference, though the list did not show it then', (row) => ({ reference: row.reference, extra: row.extra })],
  ['id', (row) => ({ transaction_id: row.id, reference: 'of somebody else' })],
])(
  'an item unknown by its %s is retried once the ledger has learnt it, and its mismatch is resolved',
  async (_, bodyOf) => {
    await using own = await openInboxEnvironment();
    const row = make({ reference: 'pedido 1', extra: 'caixa 1' });
    const webhook = await quarantine(own, bodyOf(row));
    expect(webhook.reason).toBe('unknown_at_provider');
    await learn(own, own.provider.put(row));
    await watch(own.context);
    expect(await own.waitForState(webhook.id, 'applied')).toMatchObject({
      reason: null,
      items_detail: [{ transaction_id: row.id, contradicted: false }],
    });
    expect(await readMismatchRows(own.context, 'webhook_quarantined')).toMatchObject([
      { state: 'resolved', resolution: 'reprocessed', reopened: 0 },
    ]);
  },
);

test('only the items of a body that the ledger has learnt are retried', async () => {
  const row = make({ extra: 'one of three' });
  const { id } = await environment.receive([
    { extra: row.extra, status: 'paid' },
    { id: 7 },
    { extra: 'never learnt' },
  ]);
  const webhook = await environment.waitForState(id, 'quarantined');
  const statesOf = (one: typeof webhook) => one.items_detail.map(({ state, looks }) => [state, looks]);
  const [[, count], keyless, unknown] = statesOf(webhook) as [[string, number], unknown, unknown];
  await learn(environment, environment.provider.put(row));
  expect(await retryLearntItems(environment.context)).toBe(1);
  const after = await eventually('the one was applied', async () => {
    const now = await environment.webhook(id);
    return now.items_detail[0]?.state === 'applied' && now.state === 'quarantined' ? now : undefined;
  });
  expect(statesOf(after)).toEqual([['applied', count + 1], keyless, unknown]);
});

test('an item that stays unknown to the provider is retried once', async () => {
  await using own = await openInboxEnvironment();
  const row = make({ extra: 'listed, never shown' });
  const webhook = await quarantine(own, { extra: row.extra });
  await learn(own, row);
  expect(await retryLearntItems(own.context)).toBe(1);
  const again = await own.waitForState(webhook.id, 'quarantined');
  expect(again).toMatchObject({ reason: 'unknown_at_provider' });
  expect(again.items_detail[0]?.looks).toBe((webhook.items_detail[0]?.looks ?? 0) + 1);
  for (let tries = 0; tries < 3; tries++) expect(await retryLearntItems(own.context)).toBe(0);
});

test('a key that two transactions share is not guessed, and an item with another key first is left alone', async () => {
  const [a, b] = [
    make({ extra: 'shared', reference: 'ref shared' }),
    make({ extra: 'shared', reference: 'ref shared' }),
  ];
  const webhooks = [
    await quarantine(environment, { extra: 'shared' }),
    await quarantine(environment, { reference: 'ref shared' }),
    // the id is what it is looked up by: an extra beside it is a claim
    await quarantine(environment, { transaction_id: randomUUID(), extra: 'alone' }),
    await quarantine(environment, { reference: 'nobody', extra: 'alone' }),
  ];
  await learn(
    environment,
    environment.provider.put(a),
    environment.provider.put(b),
    environment.provider.put(make({ extra: 'alone' })),
  );
  expect(await retryLearntItems(environment.context)).toBe(0);
  for (const { id } of webhooks) expect(await environment.webhook(id)).toMatchObject({ state: 'quarantined' });
});

test('two concurrent replicas retry each item once', async () => {
  const rows = Array.from({ length: 20 }, (_, index) => make({ extra: `both ${index}` }));
  const webhooks = await Promise.all(rows.map((row) => quarantine(environment, { extra: row.extra })));
  await learn(environment, ...rows.map((row) => environment.provider.put(row)));
  const counts = await Promise.all([retryLearntItems(environment.context), retryLearntItems(environment.context)]);
  expect(counts[0] + counts[1]).toBe(20);
  for (const { id } of webhooks) await environment.waitForState(id, 'applied');
});

test('an item quarantined a moment after the ledger learnt its transaction is retried too; older transactions are not scanned again', async () => {
  await using own = await openInboxEnvironment();
  const row = own.provider.put(make({ extra: 'crossed' }));
  const first = await quarantine(own, { extra: row.extra });
  await learn(own, row);
  expect(await retryLearntItems(own.context)).toBe(1);
  await own.waitForState(first.id, 'applied');
  // as if its last fetch had queried the ledger just before, and was written just after
  const putBack = async () => {
    await own.context.db
      .updateTable('webhook_items')
      .set({ state: 'quarantined', reason: 'unknown_at_provider', resolved_id: null })
      .execute();
    await own.context.db.updateTable('webhooks').set({ state: 'quarantined', reason: 'unknown_at_provider' }).execute();
  };
  await putBack();
  expect(await retryLearntItems(own.context)).toBe(1);
  await own.waitForState(first.id, 'applied');
  const long = new Date(own.context.clock.now().getTime() - 3_600_000);
  await own.context.db.updateTable('transactions').set({ first_seen_at: long }).execute();
  await retryLearntItems(own.context);
  await putBack();
  expect(await retryLearntItems(own.context)).toBe(0);
});
