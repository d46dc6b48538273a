import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFeed } from '../../../src/callbacks/manage/read-feed.ts';
import { replay } from '../../../src/callbacks/manage/replay.ts';
import { callbackBodySchema, correctionEventSchema } from '../../../src/callbacks/render/event-schema.ts';
import { transact } from '../../../src/database/transact.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import type { NewMerchant } from '../../../src/merchants/check-merchant.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { loseCommit } from '../../support/failing-database.ts';
import { anyTimeline, observe, type ShownTransaction, showTimeline } from '../../support/make-observations.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { propertyOptions } from '../../support/property.ts';
import {
  makeShownTransaction,
  observeNow,
  readLedgerState,
  readMismatchRows,
} from '../../support/read-ledger-state.ts';

let environment: TestEnvironment;
let seconds = 0;
beforeEach(async () => {
  seconds = 0;
  environment = await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' });
  // an observation's time is that of the clock and `seconds`
  environment.timers.freeze();
});
afterEach(() => environment[Symbol.asyncDispose]());

const by = { actor: 'tok_1', note: 'as the provider wrote on the 21st' };
const facts = { reference: 'pedido-k', platform: 'p', commission: '0.50' };
const PAID = ['pending@0', 'paid@1'];

/** Shows rows to the ledger, each observation later than the ones before; a negative time is before all of them. */
async function applyRow(row: ShownTransaction, at = ++seconds) {
  return await applyObservations(environment.context, [observeNow(environment.context, row, at)]);
}

const about = async (id: string) =>
  (await readMismatchRows(environment.context)).filter((one) => one.transaction_id === id);
/** Accepts the one mismatch of a transaction that is open. @returns its id. */
async function accept(id: string): Promise<string> {
  const [open] = (await about(id)).filter((one) => one.state !== 'resolved');
  await acceptMismatch(environment.context, open?.id ?? '', by);
  return open?.id ?? '';
}
const heldOf = (id: string) =>
  environment.context.db.selectFrom('transactions').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const addMerchant = (name: string, more: Partial<NewMerchant> = {}) =>
  createMerchant(environment.context, { name, url: 'https://shop.example/hook', eventsSince: new Date(0), ...more });

test('an amount that is accepted reverses the entries in force at their own time, and books the right ones', async () => {
  const row = makeShownTransaction(PAID, { ...facts, operation: 'cashout' });
  await applyRow(row);
  await applyRow({ ...row, amount: '12.00' });
  const before = await environment.context.db.selectFrom('entries').selectAll().orderBy('seq').execute();
  const id = await accept(row.id);
  const entries = await environment.context.db
    .selectFrom('entries')
    .select(['kind', 'at_wall', 'reverses_seq'])
    .orderBy('seq')
    .execute();
  expect(entries.slice(before.length)).toEqual([
    { kind: 'reversal', at_wall: '2026-11-20 23:00:00', reverses_seq: before[0]?.seq },
    { kind: 'reversal', at_wall: '2026-11-20 23:01:00', reverses_seq: before[1]?.seq },
    { kind: 'event', at_wall: '2026-11-20 23:00:00', reverses_seq: null },
    { kind: 'event', at_wall: '2026-11-20 23:01:00', reverses_seq: null },
  ]);
  expect((await readLedgerState(environment.context)).postings).toEqual({
    [`${row.id} Assets:Provider:Available:p @ 2026-11-20 23:00:00`]: -1200n,
    [`${row.id} Assets:Provider:Held:p @ 2026-11-20 23:00:00`]: 1200n,
    [`${row.id} Assets:Provider:Available:p @ 2026-11-20 23:01:00`]: -50n,
    [`${row.id} Assets:Provider:Held:p @ 2026-11-20 23:01:00`]: -1200n,
    [`${row.id} Expenses:Commission:Cashout:p @ 2026-11-20 23:01:00`]: 50n,
    [`${row.id} Liabilities:Payables:p @ 2026-11-20 23:01:00`]: 1200n,
  });
  expect(await heldOf(row.id)).toMatchObject({ amount_cents: 1200n, sequence: 3, event_count: 2 });
  expect(await about(row.id)).toMatchObject([{ id, state: 'resolved', resolution: 'accepted', note: by.note }]);
  expect(await checkBooks(environment.context)).toMatchObject({ broken: 0, breaks: [] });
  await expect(acceptMismatch(environment.context, id, by)).rejects.toMatchObject({ code: 'conflict' });
});

test.each<[string, Partial<ShownTransaction>, object]>([
  ['the operation', { operation: 'cashout' }, { operation: 'cashout', amount_cents: 1000n }],
  ['the commission', { commission: '0.80' }, { commission_cents: 80n }],
  ['the reference and the platform', { reference: 'k2', platform: 'q' }, { reference: 'k2', platform: 'q' }],
])(
  '%s can be accepted too, and the books are what the same observations come to from the start',
  async (_, other, held) => {
    const row = makeShownTransaction(PAID, facts);
    await applyRow(row);
    await applyRow({ ...row, ...other });
    await accept(row.id);
    expect(await heldOf(row.id)).toMatchObject(held);
    expect(await checkBooks(environment.context)).toMatchObject({ broken: 0, breaks: [] });
    const { postings } = await readLedgerState(environment.context);
    await using fresh = await openEnvironment();
    await applyObservations(fresh.context, [observeNow(fresh.context, { ...row, ...other })]);
    expect(postings).toEqual((await readLedgerState(fresh.context)).postings);
  },
);

test('an accepted value becomes the fact: the old value raises a mismatch again, a stale observation does not', async () => {
  const row = makeShownTransaction(PAID, facts);
  const changed = { ...row, amount: '12.00' };
  await applyRow(row, -20);
  await applyRow(changed, -10);
  const id = await accept(row.id);
  await applyRow(row, -5);
  expect(await about(row.id)).toMatchObject([{ state: 'resolved', reopened: 0 }]);
  await applyRow(changed, 1);
  expect(await about(row.id)).toMatchObject([{ state: 'resolved', reopened: 0 }]);
  await applyRow(row, 2);
  expect(await about(row.id)).toMatchObject([
    { id, state: 'open', reopened: 1, expected: { amount: '12.00' }, actual: { amount: '10.00' } },
  ]);
  await accept(row.id);
  expect(await heldOf(row.id)).toMatchObject({ amount_cents: 1000n, sequence: 4 });
  expect(await checkBooks(environment.context)).toMatchObject({ broken: 0, breaks: [] });
});

test('an observation equal to the accepted one is applied in full, though it is the newest stored', async () => {
  const row = makeShownTransaction(PAID, facts);
  await applyRow({ ...row, amount: '12.00' }, -10);
  await applyRow(row, -20);
  await accept(row.id);
  expect(await heldOf(row.id)).toMatchObject({ amount_cents: 1000n });
  await applyRow({ ...row, amount: '12.00' }, 1);
  expect(await about(row.id)).toMatchObject([{ state: 'open', actual: { amount: '12.00' } }]);
});

test('an observation that was in flight while a person accepted does not hide what the provider shows after it', async () => {
  const row = makeShownTransaction(PAID, facts);
  await applyRow(row, -20);
  await applyRow({ ...row, amount: '12.00' }, -10);
  const id = await accept(row.id);
  await applyRow({ ...row, description: 'in flight' }, -5);
  await applyRow({ ...row, description: 'in flight' }, 1);
  expect(await about(row.id)).toMatchObject([{ id, state: 'open', reopened: 1, actual: { amount: '10.00' } }]);
});

test('an event out of force that an observation in flight showed is reported by the next observation', async () => {
  const row = makeShownTransaction([...PAID, 'refund@9'], facts);
  const without = { ...makeShownTransaction(PAID, facts), id: row.id };
  await applyRow(row, -400);
  const showAt = (one: ShownTransaction, at: number) => {
    const observation = observeNow(environment.context, one, at);
    return applyObservations(environment.context, [{ ...observation, source: { kind: 'show' as const } }]);
  };
  await showAt(without, -300);
  await showAt({ ...without, description: 'again' }, -200);
  await accept(row.id);
  await showAt(row, -5);
  await showAt(row, 1);
  expect(await about(row.id)).toMatchObject([{ kind: 'status_differs', state: 'open', reopened: 1 }]);
});

test.each<[string, Partial<ShownTransaction>]>([
  ['amount', { amount: '12.00' }],
  ['commission', { commission: '0.80' }],
  ['reference', { reference: 'k2' }],
])(
  '%s: what the provider no longer shows can not be accepted; it stays open and says what it shows now',
  async (name, other) => {
    const row = makeShownTransaction(PAID, facts);
    await applyRow(row);
    await applyRow({ ...row, ...other });
    await applyRow(row);
    const [open] = await about(row.id);
    expect(open).toMatchObject({ state: 'open', actual: { [name]: row[name as 'amount'] } });
    await expect(accept(row.id)).rejects.toMatchObject({ code: 'conflict' });
    // an observation from before, that comes late, takes nothing back
    await applyRow({ ...row, ...other, description: 'late' }, 2.5);
    expect(await about(row.id)).toMatchObject([{ state: 'open', actual: { [name]: row[name as 'amount'] } }]);
    await applyRow({ ...row, ...other });
    expect(await about(row.id)).toMatchObject([{ state: 'open', actual: other }]);
    await accept(row.id);
  },
);

test('an unchanged observation is compared with evidence of an older one', async () => {
  const row = makeShownTransaction(PAID, facts);
  await applyRow({ ...row, amount: '12.00' }, -10);
  await applyRow(row, -20);
  expect(await about(row.id)).toMatchObject([{ state: 'open', actual: { amount: '10.00' } }]);
  await applyRow({ ...row, amount: '12.00' }, 1);
  await expect(accept(row.id)).rejects.toMatchObject({ code: 'conflict' });
  expect(await heldOf(row.id)).toMatchObject({ amount_cents: 1200n });
});

test('a person who names the evidence they saw accepts no other', async () => {
  const row = makeShownTransaction(PAID, facts);
  await applyRow(row);
  await applyRow({ ...row, amount: '12.00' });
  const [seen] = await about(row.id);
  await applyRow({ ...row, amount: '13.00' });
  const acceptSeen = (actual: unknown) => acceptMismatch(environment.context, seen?.id ?? '', { ...by, actual });
  await expect(acceptSeen(seen?.actual)).rejects.toMatchObject({ code: 'conflict' });
  expect(await heldOf(row.id)).toMatchObject({ amount_cents: 1000n });
  await acceptSeen((await about(row.id))[0]?.actual);
  expect(await heldOf(row.id)).toMatchObject({ amount_cents: 1300n });
});

test.each([
  { end: acceptMismatch, resolution: 'accepted', cents: 1200n },
  { end: resolveMismatchByHand, resolution: 'by_hand', cents: 1000n },
])(
  'a resolution by a person ($resolution) whose commit was not answered is applied once, without a conflict',
  async (one) => {
    const row = makeShownTransaction(PAID, facts);
    await applyRow(row);
    await applyRow({ ...row, amount: '12.00' });
    const id = (await about(row.id))[0]?.id ?? '';
    await one.end(loseCommit(environment.context, 'mismatches'), id, by);
    expect(await about(row.id)).toMatchObject([{ state: 'resolved', resolution: one.resolution }]);
    expect(await heldOf(row.id)).toMatchObject({ amount_cents: one.cents });
    const changes = environment.context.db
      .selectFrom('mismatch_changes')
      .select('state')
      .where('state', '=', 'resolved');
    expect(await changes.execute()).toHaveLength(1);
    // another's, or the same once more, is one still
    await expect(one.end(environment.context, id, by)).rejects.toMatchObject({ code: 'conflict' });
  },
);

test('a reference that a person replaced is no longer a duplicate', async () => {
  const [one, other] = [makeShownTransaction(PAID, facts), makeShownTransaction(PAID, facts)];
  await applyRow(one);
  await applyRow(other);
  const shared = () => readMismatchRows(environment.context, 'duplicate_reference');
  expect(await shared()).toMatchObject([{ state: 'open' }]);
  await applyRow({ ...other, reference: 'pedido-m' });
  await accept(other.id);
  expect(await shared()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
});

test('a contradiction about an amount ends once the provider shows that amount', async () => {
  const row = makeShownTransaction(PAID, facts);
  await applyRow(row);
  const scope = `${row.id} amount`;
  const claim = { kind: 'webhook_contradiction' as const, scope, expected: { amount: '12.00' } };
  await transact(environment.context.db, (trx) => raiseMismatches(trx, [claim], new Date()));
  const state = async () => (await readMismatchRows(environment.context, 'webhook_contradiction'))[0]?.state;
  await applyRow({ ...row, amount: '13.00' });
  expect(await state()).toBe('open');
  await applyRow({ ...row, amount: '12.00' });
  expect(await state()).toBe('resolved');
});

test('a mismatch that a person resolved is not raised again for the same evidence', async () => {
  const row = makeShownTransaction(PAID, facts);
  await applyRow(row);
  await applyRow({ ...row, amount: '12.00' });
  await resolveMismatchByHand(environment.context, (await about(row.id))[0]?.id ?? '', by);
  await applyRow({ ...row, amount: '12.00', description: 'seen anew' });
  expect(await about(row.id)).toMatchObject([{ state: 'resolved', resolution: 'by_hand' }]);
  expect(await heldOf(row.id)).toMatchObject({ amount_cents: 1000n });
  // taken back, and shown again: that is news
  await applyRow(row);
  await applyRow({ ...row, amount: '12.00' });
  expect(await about(row.id)).toMatchObject([{ state: 'open', reopened: 1 }]);
  expect(await heldOf(row.id)).toMatchObject({ amount_cents: 1000n });
});

test('a mismatch without acceptable evidence is refused and changes nothing', async () => {
  const illegal = makeShownTransaction(['pending@0', 'denied@1', 'paid@2']);
  await applyRow(illegal);
  await expect(accept(illegal.id)).rejects.toThrow(/only amount_differs/);
  const named = makeShownTransaction(PAID, { extra: 'Maria' });
  await applyRow(named);
  await applyRow({ ...named, extra: 'João' });
  await expect(accept(named.id)).rejects.toThrow(/extra is not kept/);
  await expect(acceptMismatch(environment.context, 'mm_none', by)).rejects.toMatchObject({ code: 'not_found' });
  expect(await environment.context.db.selectFrom('corrections').selectAll().execute()).toEqual([]);
  expect((await about(named.id))[0]).toMatchObject({ state: 'open' });
});

test('every merchant that was or should have been notified gets one correction, with before and after, in order', async () => {
  const reported = await Promise.all([
    addMerchant('all'),
    addMerchant('pending alone', { filter: { statuses: ['pending'] } }),
    addMerchant('of the new platform', { filter: { platforms: ['q'] } }),
  ]);
  const untold = await Promise.all([
    addMerchant('another status', { filter: { statuses: ['refund'] } }),
    addMerchant('came later', { eventsSince: new Date('2026-11-22T00:00:00Z') }),
  ]);
  const row = makeShownTransaction(PAID, facts);
  await applyRow(row);
  await applyRow({ ...row, platform: 'q' });
  await accept(row.id);
  for (const { merchant } of reported) {
    const { items: feed } = await readFeed(environment.context, merchant, { after: 0, limit: 10 });
    const last = feed.at(-1);
    for (const { body } of feed) expect(callbackBodySchema.parse(body)).toEqual(body);
    expect(correctionEventSchema.parse(last?.body)).toMatchObject({
      type: 'pix.cashin.corrected',
      data: {
        previous_status: 'paid',
        before: { platform: 'p', amount: '10.00', status: 'paid', status_at: '2026-11-20T23:01:00-03:00' },
        after: { platform: 'q', amount: '10.00', status: 'paid', commission: '0.50' },
        transaction: { id: row.id, platform: 'q', status: 'paid', sequence: 3, current_status: 'paid' },
      },
    });
  }
  for (const { merchant } of untold) {
    expect((await readFeed(environment.context, merchant, { after: 0, limit: 10 })).items).toEqual([]);
  }
  // what comes next is reported after it
  await applyRow({ ...makeShownTransaction([...PAID, 'refund@9'], facts), id: row.id, platform: 'q' });
  const { items: feed } = await readFeed(environment.context, reported[0].merchant, { after: 0, limit: 10 });
  expect(feed.map(({ body }) => (body as { type: string }).type)).toEqual([
    'pix.cashin.pending',
    'pix.cashin.paid',
    'pix.cashin.corrected',
    'pix.cashin.refund',
  ]);
  expect(feed.at(-1)?.body).toMatchObject({ data: { transaction: { sequence: 4 } } });
  expect(new Set(feed.map(({ id }) => id)).size).toBe(4);
  // a replay repeats corrections too
  await environment.context.db.updateTable('callbacks').set({ state: 'delivered' }).execute();
  const range = { from: new Date('2020-01-01T00:00:00Z'), to: new Date('2100-01-01T00:00:00Z'), dryRun: true };
  expect(await replay(environment.context, { merchant: reported[0].merchant.id, ...range })).toBe(4);
});

test('a correction of a day with a report raises closed_day_changed', async () => {
  const row = makeShownTransaction(PAID, facts);
  await applyRow(row, -20);
  await applyRow({ ...row, amount: '12.00' }, -10);
  await environment.context.db
    .insertInto('reports')
    .values({
      day: '2026-11-20',
      revision: 1,
      state: 'closed',
      made_at: environment.context.clock.now(),
      proven: 1,
      digest: Buffer.alloc(32),
      sha256: Buffer.alloc(32),
      files: '[]',
      cut_entry_seq: 99,
      cut_event_seq: 99,
      cut_mismatch_change_seq: 99,
      checked_entry_seq: 99,
      checked_event_seq: 99,
      locale: 'en',
      full_documents: 0,
      version: '0',
    })
    .execute();
  await accept(row.id);
  expect(await readMismatchRows(environment.context, 'closed_day_changed')).toMatchObject([{ state: 'open' }]);
});

test('after any acceptance, every order of later observations ends in the same books', async () => {
  await using sorted = await openEnvironment();
  await using shuffled = await openEnvironment();
  const cents = fc.integer({ min: 0, max: 99_999 });
  await fc.assert(
    fc.asyncProperty(anyTimeline, cents, fc.infiniteStream(fc.nat(1000)), async (timeline, centsThen, ranks) => {
      const amount = `${Math.floor(centsThen / 100)}.${String(centsThen % 100).padStart(2, '0')}`;
      const later = timeline.history.map((_, index) => ({ events: index + 1, rank: ranks.next().value ?? 0 }));
      const ends = [];
      for (const { context } of [sorted, shuffled]) {
        const began = context.clock.now().getTime();
        const observeAt = (events: number, ms: number, change = {}) =>
          applyObservations(context, [observe({ ...showTimeline(timeline, events), ...change }, new Date(began + ms))]);
        await observeAt(1, -60_000);
        await observeAt(1, -30_000, { amount });
        const reported = async () =>
          (await readMismatchRows(context, 'amount_differs')).filter((one) => one.transaction_id === timeline.id);
        const [open] = await reported();
        if (open) await acceptMismatch(context, open.id, by);
        // a growing history: who has seen more of it asked later
        const order = context === sorted.context ? later : later.toSorted((a, b) => a.rank - b.rank);
        for (const { events } of order) await observeAt(events, 60_000 + events, { amount });
        expect((await reported()).every((one) => one.state === 'resolved')).toBe(true);
        const { postings, transactions } = await readLedgerState(context);
        const books = Object.entries(postings).filter(([key]) => key.startsWith(timeline.id));
        ends.push({ books, held: transactions.find((row) => row.id === timeline.id) });
      }
      expect(ends[1]).toEqual(ends[0]);
    }),
    propertyOptions(8, 200),
  );
  for (const { context } of [sorted, shuffled]) {
    expect(await checkBooks(context)).toMatchObject({ broken: 0, breaks: [] });
  }
});
