import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Source } from '../../../src/domain/observation.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { describeTransaction } from '../../../src/ledger/read/describe-transaction.ts';
import { searchTransactions } from '../../../src/ledger/read/search-transactions.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { propertyOptions } from '../../support/property.ts';
import { makeShownTransaction, observeNow, readMismatchRows } from '../../support/read-ledger-state.ts';

const environment = closeAfterAll(await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' }));

let observations = 0;
/** Applies an observation that is later than all before it. */
const applyRow = (row: object) =>
  applyObservations(environment.context, [observeNow(environment.context, row as ShownTransaction, ++observations)]);

const read = (id: string) =>
  environment.context.db
    .selectFrom('transactions')
    .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .selectAll('transactions')
    .select(['name', 'description'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
const available = async (id: string) => {
  const rows = await environment.context.db
    .selectFrom('postings')
    .innerJoin('entries', 'entries.seq', 'postings.entry_seq')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .innerJoin('transactions', 'transactions.seq', 'entries.transaction_seq')
    .select('postings.amount_cents')
    .where('transactions.id', '=', id)
    .where('accounts.name', 'like', 'Assets:Provider:Available%')
    .execute();
  return rows.reduce((sum, row) => sum + row.amount_cents, 0n);
};
const readEvents = (id: string) =>
  environment.context.db
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select('events.status')
    .where('transactions.id', '=', id)
    .orderBy('events.sequence')
    .execute();
const reported = async (id: string) =>
  (await readMismatchRows(environment.context)).filter((one) => one.transaction_id === id);

const SIDES = [
  ...['status', 'commission', 'reference', 'extra', 'platform', 'e2e_id', 'name', 'email', 'phone', 'document'],
  ...['description', 'pix_key', 'events', 'finished'],
];

test('any JSON in any side field is booked: it neither refuses the row nor throws', async () => {
  const { context } = environment;
  const long = fc.string({ unit: 'binary', minLength: 500, maxLength: 6000 });
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    long,
    fc.constantFrom('0.9900', '-0.50', '\ud800', 'constructor', '__proto__'),
  );
  const event = fc.record({ status: odd, date_created: fc.oneof(fc.constant('2026-11-20 23:00:00'), odd) });
  const change = fc.dictionary(fc.constantFrom(...SIDES), odd, { maxKeys: 5 });
  const changes = fc.tuple(change, fc.option(fc.array(event, { maxLength: 3 }), { nil: undefined }));
  await fc.assert(
    fc.asyncProperty(fc.array(changes, { minLength: 1, maxLength: 20 }), async (many) => {
      const rows = many.map(([fields, events]) => ({
        ...makeShownTransaction(['pending@0', 'paid@1']),
        ...(events ? { events } : {}),
        ...fields,
        id: randomUUID(),
      }));
      const ids = rows.map((row) => row.id);
      // as it comes over the wire
      const wire = JSON.parse(JSON.stringify(rows)) as ShownTransaction[];
      const { changed, raised } = await applyObservations(
        context,
        wire.map((row) => observeNow(context, row)),
      );
      expect(changed.sort()).toEqual(ids.sort());
      expect(raised.filter((one) => one.kind === 'row_refused')).toEqual([]);
      // the same observation again brings nothing new: what was written is what was read
      const again = wire.map((row) => observeNow(context, row, 1));
      expect((await applyObservations(context, again)).changed).toEqual([]);
    }),
    propertyOptions(12, 400),
  );
});

test.for(['valueOf', 'constructor', '__proto__'])(
  'a status that bears the name of a property of all objects (%s) is one that is not known',
  async (status) => {
    const row = makeShownTransaction(['pending@0', `${status}@1`, 'paid@2']);
    const { id } = row;
    expect((await applyRow({ ...row, status, events: [] })).changed).toEqual([id]);
    expect(await readEvents(id)).toEqual([{ status }]);
    expect((await applyRow(row)).changed).toEqual([id]);
    expect((await reported(id)).map((one) => one.kind)).not.toContain('row_refused');
  },
);

test('a row is booked without the field that can not be read, flagged once, and corrected by a later observation', async () => {
  const row = makeShownTransaction(['pending@0', 'paid@1'], { commission: '0.9950', reference: 'f-1' });
  await applyRow(row);
  expect(await available(row.id)).toBe(1000n);
  await applyRow({ ...row, events: row.events, finished: 'now' });
  await applyRow({ ...row, name: [] });
  expect(await reported(row.id)).toMatchObject([
    {
      kind: 'field_unreadable',
      severity: 'medium',
      state: 'open',
      reopened: 0,
      actual: { fields: { commission: expect.any(String), name: expect.any(String) } },
    },
  ]);
  const kept = await environment.context.db
    .selectFrom('refused_rows')
    .select(['raw', 'reason'])
    .where('transaction_id', '=', row.id)
    .orderBy('seq')
    .execute();
  expect(kept.map((one) => one.reason)).toEqual(['field_unreadable: commission', 'field_unreadable: name, commission']);
  expect(JSON.parse(kept[0]?.raw.toString() ?? '')).toMatchObject({ commission: '0.9950' });

  await applyRow({ ...row, commission: '0.9900', name: 'Maria' });
  expect(await available(row.id)).toBe(901n);
  expect(await reported(row.id)).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  await applyRow({ ...row, commission: '-0.50', name: 'Maria' });
  expect(await reported(row.id)).toMatchObject([{ state: 'open', reopened: 1 }]);
  expect(await available(row.id)).toBe(901n);
});

test('an older observation that could not read a field says nothing once a newer one could', async () => {
  const row = makeShownTransaction(['pending@0', 'paid@1']);
  const now = environment.context.clock.now();
  const at = (seconds: number) => new Date(now.getTime() + (100 + seconds) * 1000);
  const bad = (seconds: number) => observe({ ...row, commission: 'x' }, at(seconds));
  await applyObservations(environment.context, [observe(row, at(2)), bad(1)]);
  expect(await reported(row.id)).toEqual([]);
  await applyObservations(environment.context, [bad(3), observe(row, at(5)), bad(4)]);
  expect(await reported(row.id)).toMatchObject([{ kind: 'field_unreadable', state: 'resolved' }]);
});

test('a row without a status and a history is booked without them, and goes on from the first that can be read', async () => {
  const row = makeShownTransaction(['pending@0', 'paid@1']);
  await applyRow({ ...row, status: [], events: {} });
  expect(await read(row.id)).toMatchObject({ status: 'unreadable' });
  expect((await reported(row.id)).map((one) => one.kind)).toEqual(['field_unreadable']);
  await applyRow({ ...row, status: 'pending', events: row.events.slice(1) });
  expect(await read(row.id)).toMatchObject({ status: 'pending' });
  await applyRow(row);
  expect(await read(row.id)).toMatchObject({ status: 'paid' });
  expect(await available(row.id)).toBe(1000n);
  expect((await reported(row.id)).map((one) => one.state)).toEqual(['resolved']);
});

test('a status that can not be read adds nothing to what is known, and gives way to any status', async () => {
  const { merchant } = await createMerchant(environment.context, {
    name: 'shop',
    url: 'https://shop.example/hook',
    eventsSince: new Date(0),
  });
  const types = async (id: string) =>
    (
      await environment.context.db
        .selectFrom('callbacks')
        .innerJoin('transactions', 'transactions.seq', 'callbacks.transaction_seq')
        .select('type')
        .where('merchant_seq', '=', merchant.seq)
        .where('transactions.id', '=', id)
        .orderBy('callbacks.sequence')
        .execute()
    ).map((row) => row.type);
  const known = makeShownTransaction(['pending@0', 'paid@1']);
  // cast: values that the type of a well-formed row excludes
  const garbled = (row: ShownTransaction) => ({ ...row, status: [], events: {} }) as unknown as ShownTransaction;
  await applyRow(known);
  await applyRow(garbled(known));
  expect(await read(known.id)).toMatchObject({ status: 'paid' });
  expect((await readEvents(known.id)).map((event) => event.status)).toEqual(['pending', 'paid']);
  expect(await types(known.id)).toEqual(['pix.cashin.pending', 'pix.cashin.paid']);

  for (const later of [{ events: [] }, {}] as const) {
    const row = makeShownTransaction(['pending@0', 'paid@1']);
    await applyRow(garbled(row));
    expect(await types(row.id)).toEqual([]);
    await applyRow({ ...row, ...later });
    expect(await read(row.id)).toMatchObject({ status: 'paid' });
    const inForce = await describeTransaction(environment.context.db, environment.context.calendar, row.id);
    expect(inForce?.events.map((event) => event.status)).not.toContain('unreadable');
    expect((await types(row.id)).filter((type) => /unreadable|corrected/.test(type))).toEqual([]);
    expect(await available(row.id)).toBe(1000n);
  }
  const row = makeShownTransaction(['pending@0', 'paid@1']);
  const now = environment.context.clock.now().getTime();
  await applyObservations(environment.context, [
    observe(garbled(row), new Date(now + 300_000)),
    observe({ ...row, events: [] }, new Date(now + 300_001)),
  ]);
  expect((await readEvents(row.id)).map((event) => event.status)).toEqual(['paid']);
  expect(await checkBooks(environment.context)).toMatchObject({ broken: 0, breaks: [] });
});

test('a field that the list can not read and the show can is flagged until a list can', async () => {
  const row = makeShownTransaction(['pending@0', 'paid@1']);
  const bad = { ...row, commission: 'x' };
  const by = { kind: 'list', run: { seq: 1, id: 'run_1' }, page: 1 } as const;
  let seconds = 400;
  const seen = async (one: ShownTransaction, source?: Source) => {
    const at = new Date(environment.context.clock.now().getTime() + ++seconds * 1000);
    await applyObservations(environment.context, [observe(one, at, source)]);
  };
  await seen(bad, by);
  for (let turn = 0; turn < 3; turn++) {
    await seen(row);
    await seen(bad, by);
  }
  expect(await reported(row.id)).toMatchObject([{ state: 'open', reopened: 0, actual: { shown_by: 'list' } }]);
  await seen(row, by);
  expect(await reported(row.id)).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
});

test('a text longer than its column is found by the whole of it, and by what is kept', async () => {
  const long = {
    reference: 'é'.repeat(600),
    extra: 'x'.repeat(3000),
    platform: 'p'.repeat(100),
    e2e_id: 'E'.repeat(500),
    description: '😀'.repeat(15_000),
    name: 'N'.repeat(5000),
  };
  const row = makeShownTransaction(['pending@0', 'paid@1'], long);
  await applyRow(row);
  const kept = await read(row.id);
  expect(kept.description).toBe(`${'😀'.repeat(1023)}…`);
  expect(kept.name).toBe(`${'N'.repeat(1021)}…`);
  expect(await reported(row.id)).toEqual([]);
  const find = async (query: object) => {
    const { transactions } = await searchTransactions(environment.context.db, environment.context.keys, {
      by: 'created',
      limit: 10,
      ...query,
    });
    return transactions.map((one) => one.id);
  };
  const queries = [
    ...[{ reference: long.reference }, { extra: long.extra }, { platform: long.platform }, { e2eId: long.e2e_id }],
    ...[{ reference: kept.reference }, { extra: kept.extra }, { platform: kept.platform }, { e2eId: kept.e2e_id }],
  ];
  for (const query of queries) expect(await find(query)).toEqual([row.id]);
});
