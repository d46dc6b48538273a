import { beforeAll, describe, expect, test } from 'vitest';
import type { Observation } from '../../../src/domain/observation.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { storeRefusedRows } from '../../../src/ledger/apply/store-refused-rows.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import type { ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import {
  makeShownTransaction,
  observeNow,
  readLedgerState,
  readMismatchRows,
} from '../../support/read-ledger-state.ts';

const environment = closeAfterAll(await openEnvironment());
beforeAll(async () => {
  const url = 'https://shop.example/hook';
  await createMerchant(environment.context, { name: 'a', url, eventsSince: new Date(0) });
  await createMerchant(environment.context, {
    name: 'b',
    url,
    eventsSince: new Date(0),
    filter: { statuses: ['paid'] },
  });
});

const callbacksOf = (id: string) =>
  environment.context.db
    .selectFrom('callbacks')
    .innerJoin('transactions', 'transactions.seq', 'callbacks.transaction_seq')
    .select(['callbacks.type', 'callbacks.sequence', 'callbacks.previous_status', 'callbacks.merchant_seq'])
    .where('transactions.id', '=', id)
    .orderBy('callbacks.seq')
    .execute();

test('an observation is applied once: repeated, alone or in one batch with itself, it changes nothing', async () => {
  const { context } = environment;
  const row = makeShownTransaction(['pending@0', 'paid@1'], { commission: '0.50', platform: 'p' });
  const first = await applyObservations(context, [observeNow(context, row), observeNow(context, row)]);
  expect(first.changed).toEqual([row.id]);
  const state = await readLedgerState(context);
  for (const again of [[observeNow(context, row, 1)], [observeNow(context, row, 2), observeNow(context, row, 3)]]) {
    expect(await applyObservations(context, again)).toEqual({ changed: [], raised: [], enqueued: [] });
  }
  expect(await readLedgerState(context)).toEqual(state);
});

test('each event has one callback a merchant that asked for it, oldest first, whether learnt at once or one by one', async () => {
  const { context } = environment;
  const atOnce = makeShownTransaction(['pending@0', 'in_process@1', 'paid@2']);
  await applyObservations(context, [observeNow(context, atOnce)]);
  const oneByOne = { ...atOnce, id: makeShownTransaction([]).id };
  for (const events of [1, 2, 3]) {
    const row = { ...oneByOne, status: atOnce.events.at(-events)?.status ?? '', events: atOnce.events.slice(-events) };
    await applyObservations(context, [observeNow(context, row, events)]);
  }
  const all = await callbacksOf(atOnce.id);
  expect(all.filter((callback) => callback.merchant_seq === 1)).toMatchObject([
    { type: 'pix.cashin.pending', sequence: 1, previous_status: null },
    { type: 'pix.cashin.in_process', sequence: 2, previous_status: 'pending' },
    { type: 'pix.cashin.paid', sequence: 3, previous_status: 'in_process' },
  ]);
  expect(all.filter((callback) => callback.merchant_seq === 2)).toMatchObject([{ type: 'pix.cashin.paid' }]);
  expect(await callbacksOf(oneByOne.id)).toHaveLength(all.length);
});

test('the transactions of a batch are written in the order of their creation, not of their ids', async () => {
  const { context } = environment;
  const [last, first, second] = ['5', '1', '3'].map((minute) => makeShownTransaction([`paid@${minute}`]));
  const rows = [last, first, second].filter((row) => row !== undefined);
  await applyObservations(
    context,
    rows.map((row) => observeNow(context, row)),
  );
  const ids = rows.map(({ id }) => id);
  const stored = context.db.selectFrom('transactions').select('id').where('id', 'in', ids).orderBy('seq');
  expect((await stored.execute()).map(({ id }) => id)).toEqual([first?.id, second?.id, last?.id]);
});

test('a changed fact updates the row and adds no event', async () => {
  const { context } = environment;
  const row = makeShownTransaction(['pending@0', 'paid@1']);
  await applyObservations(context, [observeNow(context, row)]);
  expect(
    (await applyObservations(context, [observeNow(context, { ...row, e2e_id: 'E1', name: 'Ana' }, 1)])).changed,
  ).toEqual([row.id]);
  expect(await callbacksOf(row.id)).toHaveLength(3);
  const stored = await context.db.selectFrom('transactions').selectAll().where('id', '=', row.id).executeTakeFirst();
  expect(stored).toMatchObject({ e2e_id: 'E1', event_count: 2, sequence: 2, status: 'paid' });
});

test('a server without RETURNING gives the same result', async () => {
  await using reported = await openEnvironment();
  await using asked = await openEnvironment();
  const rows = ['p', 'q'].flatMap((platform) => [
    makeShownTransaction(['pending@0', 'paid@1', 'refund@2'], { commission: '0.50', platform }),
    makeShownTransaction(['paid@1', 'paid@1'], { platform }),
  ]);
  const single = makeShownTransaction(['pending@0', 'paid@1']);
  const [first, second] = await Promise.all(
    [reported, asked].map(async ({ context }, index) => {
      const mine = { ...context, supportsReturning: index === 0 && context.supportsReturning };
      const observations = (some: ShownTransaction[], minute: number) =>
        some.map((row) => observeNow(context, row, minute));
      await applyObservations(mine, observations(rows, 0));
      await applyObservations(mine, observations([{ ...single, events: single.events.slice(1) }], 1));
      await applyObservations(mine, observations([single], 2));
      expect((await checkBooks(context)).breaks).toEqual([]);
      return await readLedgerState(context);
    }),
  );
  expect(first?.events).toHaveLength(12);
  expect(second).toEqual(first);
});

test('an event on the last possible date is booked, and reported as dated in the future', async () => {
  const { context } = environment;
  const row = makeShownTransaction(['paid@0']);
  const late = { ...row, events: row.events.map((event) => ({ ...event, date_created: '9999-12-31 10:00:00' })) };
  expect(await applyObservations(context, [observeNow(context, late)])).toMatchObject({
    changed: [row.id],
    raised: [
      {
        kind: 'e2e_date_differs',
        actual: { events_to_come: [{ status: 'paid', at: '9999-12-31T10:00:00-03:00' }] },
      },
    ],
  });
  const [entry] = await context.db
    .selectFrom('entries')
    .innerJoin('transactions', 'transactions.seq', 'entries.transaction_seq')
    .select('entries.at_wall')
    .where('transactions.id', '=', row.id)
    .execute();
  expect(entry?.at_wall).toBe('9999-12-31 10:00:00');
});

test('identifiers that differ only in case, accent or a blank stay distinct: id, reference, extra and platform', async () => {
  const { context } = environment;
  const texts = ['A', 'a', 'á', 'a ', ' a', 'a\u0301'];
  const rows = texts.map((text) =>
    makeShownTransaction(['paid@1'], { id: text, reference: text, extra: text, platform: text }),
  );
  await applyObservations(
    context,
    rows.map((row) => observeNow(context, row)),
  );
  const { transactions, postings } = await readLedgerState(context);
  const stored = transactions.filter((row) => texts.includes(row.id));
  expect(stored).toHaveLength(texts.length);
  for (const { id, ...row } of stored) expect(row).toMatchObject({ reference: id, extra: id, platform: id });
  const booked = Object.keys(postings).filter((key) => texts.some((text) => key.startsWith(`${text} Assets:`)));
  expect(new Set(booked.map((key) => key.slice(key.indexOf('Available:')))).size).toBe(texts.length);
  expect(await readMismatchRows(context, 'duplicate_reference')).toEqual([]);
});

describe('a row that the database refuses', () => {
  /** An observation with a fact that does not fit its column: reading cuts such a text or refuses its row. */
  function poison(fact: { id?: string; platform?: string }): Observation {
    const observation = observeNow(environment.context, makeShownTransaction(['paid@1'], { name: 'Maria Segredo' }));
    return { ...observation, transaction: { ...observation.transaction, ...fact } };
  }

  test('is stored raw and reported; the rest of its page is applied', async () => {
    const { context } = environment;
    const observation = poison({ platform: 'p'.repeat(65) });
    const bad = observation.transaction;
    const good = Array.from({ length: 99 }, () => makeShownTransaction(['pending@0', 'paid@1']));
    const observations = good.map((row) => observeNow(context, row));
    const page = [...observations.slice(0, 57), observation, ...observations.slice(57)];
    const applied = await applyObservations(context, page);
    expect(applied.changed.toSorted()).toEqual(good.map((row) => row.id).sort());
    expect(applied.raised).toMatchObject([{ kind: 'row_refused', scope: bad.id }]);
    const kept = await context.db.selectFrom('refused_rows').selectAll().where('transaction_id', '=', bad.id).execute();
    expect(kept).toHaveLength(1);
    expect(JSON.parse(kept[0]?.raw.toString() ?? '')).toMatchObject({ id: bad.id, amountCents: '1000' });
    const [reported] = (await readMismatchRows(context, 'row_refused')).filter((one) => one.transaction_id === bad.id);
    expect(reported).toMatchObject({ state: 'open', severity: 'high' });
    expect(JSON.stringify(reported)).not.toContain('Segredo');

    // again: kept and reported once; readable later: over
    await applyObservations(context, page);
    expect(
      await context.db.selectFrom('refused_rows').selectAll().where('transaction_id', '=', bad.id).execute(),
    ).toHaveLength(1);
    await applyObservations(context, [observeNow(context, { ...makeShownTransaction(['paid@1']), id: bad.id }, 1)]);
    const after = (await readMismatchRows(context, 'row_refused')).filter((one) => one.transaction_id === bad.id);
    expect(after).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence', reopened: 0 }]);
  });

  test('is kept even if its own id is what does not fit', async () => {
    const { context } = environment;
    const good = makeShownTransaction(['paid@1']);
    const observations = [poison({ id: '\u20ac'.repeat(64) }), observeNow(context, good)];
    const { changed, raised } = await applyObservations(context, observations);
    expect(changed).toEqual([good.id]);
    expect(raised).toMatchObject([{ kind: 'row_refused', scope: expect.stringMatching(/^row:/) }]);
  });
});

test('a known transaction that can be read again ends its refusal, although nothing else changed', async () => {
  const { context } = environment;
  const row = makeShownTransaction(['paid@1']);
  const early = observeNow(context, row);
  await applyObservations(context, [early]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await storeRefusedRows(context, [{ id: row.id, raw: '{}', reason: 'amount: none', source: { kind: 'show' } }]);
  const stateOf = async () =>
    (await readMismatchRows(context, 'row_refused')).find((one) => one.transaction_id === row.id)?.state;
  await applyObservations(context, [early]);
  expect(await stateOf()).toBe('open');
  await applyObservations(context, [observeNow(context, row, 1)]);
  expect(await stateOf()).toBe('resolved');
});

test('every event and entry says where it came from', async () => {
  const { context } = environment;
  const row = makeShownTransaction(['paid@1']);
  const observation: Observation = {
    ...observeNow(context, row),
    source: { kind: 'list', run: { seq: 7, id: 'run_x' }, page: 3 },
  };
  await applyObservations(context, [observation]);
  const { seq } = await context.db
    .selectFrom('transactions')
    .select('seq')
    .where('id', '=', row.id)
    .executeTakeFirstOrThrow();
  for (const table of ['events', 'entries'] as const) {
    const source = await context.db
      .selectFrom(table)
      .select(['source_kind', 'source_run_seq', 'source_page', 'source_webhook_seq'])
      .where('transaction_seq', '=', seq)
      .execute();
    expect(source).toEqual([{ source_kind: 'list', source_run_seq: 7, source_page: 3, source_webhook_seq: null }]);
  }
});

test('in a batch of two observations, each event and its entry name the observation that added it', async () => {
  const { context } = environment;
  const row = makeShownTransaction(['pending@1'], { operation: 'cashout' });
  const paid = { ...makeShownTransaction(['pending@1', 'paid@2'], { operation: 'cashout' }), id: row.id };
  const page = { kind: 'list' as const, run: { seq: 7, id: 'run_x' } };
  await applyObservations(context, [
    { ...observeNow(context, row), source: { ...page, page: 3 } },
    { ...observeNow(context, paid, 1), source: { ...page, page: 9 } },
    // one that brings nothing
    { ...observeNow(context, { ...paid, name: 'Ana' }, 2), source: { kind: 'show' } },
  ]);
  const rows = await context.db
    .selectFrom('events')
    .innerJoin('entries', 'entries.event_seq', 'events.seq')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select(['events.status', 'events.source_page', 'entries.source_page as entry_page'])
    .where('transactions.id', '=', row.id)
    .orderBy('events.sequence')
    .execute();
  expect(rows).toEqual([
    { status: 'pending', source_page: 3, entry_page: 3 },
    { status: 'paid', source_page: 9, entry_page: 9 },
  ]);
});
