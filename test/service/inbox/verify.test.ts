import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LEASE_MS } from '../../../src/inbox/items/claim-items.ts';
import { reprocessWebhook } from '../../../src/inbox/items/quarantine.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { holdReads, loseDatabase } from '../../support/failing-database.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { makeShownTransaction, readMismatchRows } from '../../support/read-ledger-state.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

const environment = closeAfterAll(await openInboxEnvironment());

const PAID = ['pending@0', 'paid@1'];

/** A transaction that the provider knows. */
function paid(more: Partial<ShownTransaction> = {}): ShownTransaction {
  return environment.provider.put(makeShownTransaction(PAID, { id: randomUUID(), ...more }));
}

/** The body that public clients of the live service read. */
const flat = (row: ShownTransaction, more: object = {}) => ({
  id: 30,
  transaction_id: row.id,
  status: row.status,
  ...more,
});

const heldOf = (id: string) =>
  environment.context.db.selectFrom('transactions').selectAll().where('id', '=', id).executeTakeFirst();

/** Puts a transaction into the ledger by a run, as it was before its webhook comes. */
async function know(row: ShownTransaction): Promise<void> {
  await applyObservations(environment.context, [observe(row, environment.context.clock.now())]);
}

describe('a claim', () => {
  const contradictions = async (id: string) =>
    (await readMismatchRows(environment.context, 'webhook_contradiction')).filter((one) => one.transaction_id === id);

  test('ahead of the provider is fetched again, and applied once it is shown', async () => {
    await using slow = await openInboxEnvironment({ WEBHOOK_GRACE: '10m' });
    const row = slow.provider.put(makeShownTransaction(['pending@0'], { id: randomUUID() }));
    const { id } = await slow.receive({ transaction_id: row.id, status: 'paid' });
    await eventually('a first fetch', async () =>
      (await slow.webhook(id)).items_detail[0]?.looks === 1 ? true : undefined,
    );
    expect(await slow.webhook(id)).toMatchObject({ state: 'pending' });
    slow.provider.put({ ...makeShownTransaction(PAID), id: row.id });
    expect(await slow.waitForState(id, 'applied')).toMatchObject({ items_detail: [{ looks: 2, contradicted: false }] });
    expect(await readMismatchRows(slow.context)).toEqual([]);
  });

  test('that never comes true is raised once, moves nothing, and is resolved when the history shows it', async () => {
    const row = environment.provider.put(makeShownTransaction(['pending@0'], { id: randomUUID() }));
    const bodies = [1, 2, 3].map((id) => flat(row, { id, status: 'paid' }));
    for (const { id } of await Promise.all(bodies.map((body) => environment.receive(body)))) {
      expect(await environment.waitForState(id, 'applied')).toMatchObject({ items_detail: [{ contradicted: true }] });
    }
    expect(await heldOf(row.id)).toMatchObject({ status: 'pending' });
    expect(await contradictions(row.id)).toMatchObject([
      { state: 'open', severity: 'critical', expected: { status: 'paid' }, actual: { status: 'pending' } },
    ]);
    await know({ ...makeShownTransaction(PAID), id: row.id });
    expect(await contradictions(row.id)).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  });

  test("shown as the row's own status alone is not applied: it waits, and contradicts once the grace is over", async () => {
    const ahead = { ...makeShownTransaction(['pending@0'], { id: randomUUID() }), status: 'paid' };
    await using slow = await openInboxEnvironment({ WEBHOOK_GRACE: '10m' });
    slow.provider.put(ahead);
    const waits = await slow.receive(flat(ahead));
    await eventually('a first fetch', async () =>
      (await slow.webhook(waits.id)).items_detail[0]?.looks === 1 ? true : undefined,
    );
    expect(await slow.webhook(waits.id)).toMatchObject({ state: 'pending' });

    const row = environment.provider.put({ ...ahead, id: randomUUID() });
    const { id } = await environment.receive(flat(row));
    expect(await environment.waitForState(id, 'applied')).toMatchObject({ items_detail: [{ contradicted: true }] });
    expect(await heldOf(row.id)).toMatchObject({ status: 'pending' });
    expect(await contradictions(row.id)).toMatchObject([
      { state: 'open', expected: { status: 'paid' }, actual: { status: 'paid', history: ['pending'] } },
    ]);
    await know({ ...makeShownTransaction(PAID), id: row.id });
    expect(await contradictions(row.id)).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  });

  test('shown only by a row without a history, once histories were shown, stays a contradiction', async () => {
    const row = environment.provider.put(makeShownTransaction(['pending@0'], { id: randomUUID() }));
    await know({ ...row, status: 'pending' });
    const { id } = await environment.receive(flat(row, { status: 'paid' }));
    expect(await environment.waitForState(id, 'applied')).toMatchObject({ items_detail: [{ contradicted: true }] });
    await know({ ...row, status: 'paid', events: [] });
    expect(await contradictions(row.id)).toMatchObject([{ state: 'open' }]);
    // known so before the grace was over, it is a contradiction all the same
    const other = environment.provider.put(makeShownTransaction(['pending@0'], { id: randomUUID() }));
    await know({ ...other, status: 'pending' });
    await know({ ...other, status: 'paid', events: [] });
    const late = await environment.receive(flat(other, { status: 'paid' }));
    await environment.waitForState(late.id, 'applied');
    expect(await contradictions(other.id)).toMatchObject([{ state: 'open' }]);
    await know({ ...makeShownTransaction(PAID), id: row.id });
    expect(await contradictions(row.id)).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  });

  test("of another amount is a contradiction, and the ledger holds the provider's", async () => {
    const row = paid();
    const { id } = await environment.receive(flat(row, { transaction_amount: '9999.00' }));
    await environment.waitForState(id, 'applied');
    expect(await contradictions(row.id)).toMatchObject([
      { expected: { amount: '9999.00' }, actual: { amount: '10.00' } },
    ]);
    expect(await heldOf(row.id)).toMatchObject({ amount_cents: 1000n });
  });

  test('of a status and an amount that the provider shows neither of is two mismatches, and each ends by itself', async () => {
    const row = environment.provider.put(makeShownTransaction(['pending@0'], { id: randomUUID() }));
    const { id } = await environment.receive(flat(row, { status: 'paid', transaction_amount: '9999.00' }));
    expect(await environment.waitForState(id, 'applied')).toMatchObject({ items_detail: [{ contradicted: true }] });
    const of = async (claim: 'amount' | 'status') =>
      (await contradictions(row.id)).filter(({ expected }) => claim in (expected as object));
    expect(await of('amount')).toMatchObject([{ state: 'open', expected: { amount: '9999.00' } }]);
    expect(await of('status')).toMatchObject([{ state: 'open', expected: { status: 'paid' } }]);
    await know({ ...makeShownTransaction(PAID), id: row.id });
    expect(await of('amount')).toMatchObject([{ state: 'open' }]);
    expect(await of('status')).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  });

  test.each([
    ['status', 'events', { status: 'paid' }, PAID, {}],
    ['amount', 'mismatches', { transaction_amount: '12.00' }, ['pending@0'], { amount: '12.00' }],
  ] as const)(
    'whose %s the ledger learns while it is evaluated leaves no open mismatch',
    async (_, read, said, events, shown) => {
      let held: ReturnType<typeof holdReads> | undefined;
      await using own = await openInboxEnvironment({}, (context) => {
        held = holdReads(context, read);
        return held.context;
      });
      const row = own.provider.put(makeShownTransaction(['pending@0'], { id: randomUUID() }));
      // its shows bring nothing new, so the evaluation alone reads these tables
      await applyObservations(own.context, [observe(row, own.context.clock.now())]);
      held?.hold();
      const { id } = await own.receive(flat(row, said));
      await eventually('the evaluation has read the ledger', async () => {
        await own.timers.advance(200);
        return held?.held() === 1 ? true : undefined;
      });
      const later = { ...makeShownTransaction([...events], shown), id: row.id };
      const learnt = applyObservations(own.context, [observe(later, own.context.clock.now())]);
      await Promise.race([learnt, waitForLockWaits(own.context)]);
      held?.release();
      await learnt;
      await own.waitForState(id, 'applied');
      const open = await readMismatchRows(own.context, 'webhook_contradiction');
      expect(open.filter((one) => one.state !== 'resolved')).toEqual([]);
    },
  );
});

describe('again', () => {
  /** As if the last fetch of every item were long ago. */
  const letTimePass = () =>
    environment.context.db
      .updateTable('webhook_items')
      .set({ looked_at: new Date('2020-01-01') })
      .execute();

  test('a repeat has its transaction fetched again, and a change since then applied', async () => {
    const row = paid();
    const { id } = await environment.receive(flat(row));
    await environment.waitForState(id, 'applied');
    await letTimePass();
    environment.provider.put({ ...makeShownTransaction([...PAID, 'refund@9']), id: row.id });
    expect(await environment.receive(flat(row))).toMatchObject({ duplicate: true });
    await eventually('the refund', async () => ((await heldOf(row.id))?.status === 'refund' ? true : undefined));
  });

  test('a repeat of what was ambiguous is another chance', async () => {
    const rows = [0, 1].map(() => paid({ reference: 'twice' }));
    const body = { transaction_reference: 'twice', status: 'paid' };
    const { id } = await environment.receive(body);
    await environment.waitForState(id, 'quarantined');
    await letTimePass();
    environment.provider.put({ ...rows[1], reference: 'another' } as ShownTransaction);
    await environment.receive(body);
    await environment.waitForState(id, 'applied');
  });

  test('a repeat brings forward the next fetch of a waiting claim', async () => {
    await using slow = await openInboxEnvironment({ WEBHOOK_GRACE: '10m' });
    const row = slow.provider.put(makeShownTransaction(['pending@0'], { id: randomUUID() }));
    const body = { transaction_id: row.id, status: 'paid' };
    const { id } = await slow.receive(body);
    await eventually('a first fetch', async () =>
      (await slow.webhook(id)).items_detail[0]?.looks === 1 ? true : undefined,
    );
    const later = new Date(Date.now() + 300_000);
    await slow.context.db
      .updateTable('webhook_items')
      .set({ next_look_at: later, looked_at: new Date('2020-01-01') })
      .execute();
    slow.provider.put({ ...makeShownTransaction(PAID), id: row.id });
    await slow.receive(body);
    await slow.waitForState(id, 'applied');
  });

  test('a webhook reprocessed with success resolves its mismatch, or passes it to the next of its reason', async () => {
    await using own = await openInboxEnvironment();
    const bodies = [0, 1].map(() => ({ transaction_id: randomUUID(), status: 'paid' }));
    const ids: string[] = [];
    for (const body of bodies) {
      const { id } = await own.receive(body);
      await own.waitForState(id, 'quarantined');
      ids.push(id);
    }
    for (const [index, body] of bodies.entries()) {
      const { seq } = await own.webhook(ids[index] ?? '');
      own.provider.put({ ...makeShownTransaction(PAID), id: body.transaction_id });
      expect(await readMismatchRows(own.context, 'webhook_quarantined')).toMatchObject([{ state: 'open' }]);
      await reprocessWebhook(own.context, seq);
      await own.waitForState(ids[index] ?? '', 'applied');
    }
    expect(await readMismatchRows(own.context, 'webhook_quarantined')).toMatchObject([
      { state: 'resolved', resolution: 'reprocessed' },
    ]);
  });

  test('a reprocessed webhook without a key is split again, and quarantined again; its mismatch stays open', async () => {
    await using own = await openInboxEnvironment();
    const { id } = await own.receive({ id: 30, status: 'paid' });
    const before = await own.waitForState(id, 'quarantined');
    await reprocessWebhook(own.context, before.seq);
    expect(await own.waitForState(id, 'quarantined')).toEqual(before);
    expect(await readMismatchRows(own.context, 'webhook_quarantined')).toMatchObject([
      { state: 'open', actual: { reason: 'no_key' } },
    ]);
  });

  test('an unknown webhook can not be reprocessed', async () => {
    await expect(reprocessWebhook(environment.context, 999_999)).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('the good items of a mixed body are applied; it stays quarantined and raised', async () => {
  await using own = await openInboxEnvironment();
  const rows = [0, 1].map(() => own.provider.put(makeShownTransaction(PAID, { id: randomUUID() })));
  const { id } = await own.receive([
    flat(rows[0] ?? makeShownTransaction([])),
    { id: 30, status: 'paid' },
    flat(rows[1] ?? makeShownTransaction([])),
  ]);
  const webhook = await own.waitForState(id, 'quarantined');
  expect(webhook).toMatchObject({ reason: 'no_key', items: 3 });
  expect(webhook.items_detail.map((item) => item.state)).toEqual(['applied', 'quarantined', 'applied']);
  const held = await own.context.db.selectFrom('transactions').select('id').orderBy('seq').execute();
  expect(held.map((row) => row.id).toSorted()).toEqual(rows.map((row) => row.id).toSorted());
  expect(await readMismatchRows(own.context, 'webhook_quarantined')).toMatchObject([
    { state: 'open', actual: { reason: 'no_key' } },
  ]);
});

test('items of one body that are verified concurrently close it together', async () => {
  await using own = await openInboxEnvironment();
  own.provider.switches.beforeResponse = () => sleep(20);
  const rows = Array.from({ length: 40 }, () => own.provider.put(makeShownTransaction(PAID, { id: randomUUID() })));
  for (let from = 0; from < rows.length; from += 4) {
    const { id } = await own.receive(rows.slice(from, from + 4).map((row) => flat(row)));
    await own.waitForState(id, 'applied');
  }
});

test('while the provider is down nothing is quarantined; verification continues when it is back', async () => {
  await using own = await openInboxEnvironment();
  own.provider.switches.fault = () => ({ status: 503, headers: { 'retry-after': '1' } });
  const row = own.provider.put(makeShownTransaction(PAID, { id: randomUUID() }));
  const { id } = await own.receive(flat(row));
  await eventually('the grace is over', async () => {
    await own.timers.advance(200);
    return own.provider.countShows(row.id) >= 3;
  });
  expect(await own.webhook(id)).toMatchObject({ state: 'pending', items_detail: [{ looks: 0 }] });
  own.provider.switches.fault = () => undefined;
  expect(await own.waitForState(id, 'applied')).toMatchObject({ items_detail: [{ contradicted: false }] });
  expect(await readMismatchRows(own.context)).toEqual([]);
});

test('while the key is refused one item at a time asks, and all may ask within seconds of its acceptance', async () => {
  await using own = await openInboxEnvironment({ WEBHOOK_GRACE: '10m' });
  const [first, ...others] = Array.from({ length: 30 }, () =>
    own.provider.put(makeShownTransaction(PAID, { id: randomUUID() })),
  );
  own.provider.switches.fault = () => ({ status: 401 });
  const firstId = (await own.receive(flat(first as ShownTransaction))).id;
  const readDueTimes = async (): Promise<number[]> => {
    const items = await own.context.db.selectFrom('webhook_items').select(['next_look_at', 'lease_holder']).execute();
    return items.flatMap((one) => (one.lease_holder === null ? [Number(one.next_look_at)] : []));
  };
  await eventually('the first is deferred', async () => (await readDueTimes()).length === 1);
  const received = await Promise.all(others.map((row) => own.receive(flat(row))));
  for (let seconds = 0; seconds < 60; seconds++) await own.timers.advance(1_000);
  expect(own.provider.count('show')).toBeLessThan(12);
  expect(Math.max(...(await readDueTimes())) - own.context.clock.now().getTime()).toBeLessThan(10_000);
  own.provider.switches.fault = () => undefined;
  for (const id of [firstId, ...received.map((one) => one.id)]) await own.waitForState(id, 'applied');
});

test('items whose verification loses the database are verified again once their leases run out', async () => {
  let database: ReturnType<typeof loseDatabase> | undefined;
  await using own = await openInboxEnvironment({}, (context) => {
    database = loseDatabase(context);
    return database.context;
  });
  const row = own.provider.put(makeShownTransaction(PAID, { id: randomUUID() }));
  // an id from a sender without a hit is first looked up in the ledger
  database?.lose('transactions');
  const { id } = await own.receive(flat(row));
  await eventually('the lookup, and the deferral after it, fail', () => (database?.lost() ?? 0) > 1);
  expect(own.provider.countShows(row.id)).toBe(0);
  database?.heal();
  await own.timers.advance(LEASE_MS);
  expect(await own.waitForState(id, 'applied')).toMatchObject({ items_detail: [{ contradicted: false }] });
});
