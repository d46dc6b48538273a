/** Histories that come later, in another order, or that an earlier version kept otherwise. */
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderBodies } from '../../../src/callbacks/render/render-bodies.ts';
import type { Context } from '../../../src/context.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import {
  correctStoredHistories,
  countCorrectedHistories,
} from '../../../src/ledger/correct/correct-stored-histories.ts';
import { describeTransaction } from '../../../src/ledger/read/describe-transaction.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { readBalances } from '../../../src/seal/read-balances.ts';
import { listDatedEntries, listHistories } from '../../support/list-stored-histories.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import {
  dropTriggers,
  makeShownTransaction,
  readLedgerState,
  readMismatchRows,
} from '../../support/read-ledger-state.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const home = temporaryDirectory();
let environment: TestEnvironment;
beforeAll(async () => {
  environment = await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z', DATA_DIR: home.path });
});
afterAll(async () => {
  await environment[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

const CREATED = '2026-11-19 23:00:00';

/** A payment that is created on one day and paid on the next, with and without its history. */
function comesLater(more: Partial<ShownTransaction> = {}) {
  const whole = {
    ...makeShownTransaction(['pending@0', 'paid@5'], { commission: '0.50', platform: 'p', ...more }),
    date_created: CREATED,
  };
  return { id: whole.id, whole, bare: { ...whole, events: [] } };
}

let asked = 0;
async function applyRows(context: Context, ...rows: ShownTransaction[]): Promise<void> {
  for (const row of rows) {
    const askedAt = new Date(context.clock.now().getTime() + ++asked);
    await applyObservations(context, [observe(row, askedAt)]);
  }
}

const historyOf = async ({ db, calendar }: Context, id: string) =>
  (await describeTransaction(db, calendar, id))?.events.map(({ status, at }) => `${status} ${at.slice(0, 19)}`);

async function netOf(context: Context, id: string) {
  const { postings } = await readLedgerState(context);
  return Object.fromEntries(
    Object.entries(postings)
      .filter(([key]) => key.startsWith(id))
      .map(([key, cents]) => [key.slice(id.length + 1), cents]),
  );
}

const PAID = {
  'Assets:Provider:Available:p @ 2026-11-20 23:05:00': 950n,
  'Expenses:Commission:Cashin:p @ 2026-11-20 23:05:00': 50n,
  'Liabilities:Receipts:p @ 2026-11-20 23:05:00': -1000n,
};

test('a history that comes after its status, before it, or between ends in the same events and balances', async () => {
  const { context } = environment;
  for (const order of [
    ['bare', 'whole'],
    ['whole', 'bare'],
    ['bare', 'whole', 'bare'],
  ] as const) {
    const rows = comesLater();
    await applyRows(context, ...order.map((form) => rows[form]));
    expect(await netOf(context, rows.id)).toEqual(PAID);
    expect(await historyOf(context, rows.id)).toEqual(['paid 2026-11-20T23:05:00', 'pending 2026-11-20T23:00:00']);
  }
  expect(await checkBooks(context)).toMatchObject({ broken: 0, breaks: [] });
});

test('in one batch too, where the inferred event was never written down', async () => {
  const { context } = environment;
  const { id, whole, bare } = comesLater();
  const now = context.clock.now().getTime();
  await applyObservations(context, [observe(bare, new Date(now)), observe(whole, new Date(now + 1))]);
  expect(await netOf(context, id)).toEqual(PAID);
  const entries = await describeTransaction(context.db, context.calendar, id);
  expect(entries?.entries.map((entry) => entry.kind)).toEqual(['event']);
});

test('balances as known earlier keep the inferred entry at the creation day until it was replaced', async () => {
  const { context } = environment;
  const platform = 'known';
  const { whole, bare } = comesLater({ platform });
  const available = async (known: Date | undefined, at: string) => {
    const { balances } = await readBalances(context.db, at, known ? { before: known } : 'now', context.clock.now());
    return balances.find((one) => one.account === `Assets:Provider:Available:${platform}`)?.cents ?? 0n;
  };
  await applyRows(context, bare);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const before = context.clock.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await applyRows(context, whole);
  expect(await available(before, '2026-11-20 00:00:00')).toBe(950n);
  expect(await available(undefined, '2026-11-20 00:00:00')).toBe(0n);
  expect(await available(undefined, '2026-11-21 00:00:00')).toBe(950n);
});

test('a status that came without a history is booked no earlier than what it follows', async () => {
  const { context } = environment;
  const row = makeShownTransaction(['pending@0', 'paid@5'], { platform: 'late' });
  await applyRows(context, row, { ...row, status: 'refund', events: [] });
  const { entries = [] } = (await describeTransaction(context.db, context.calendar, row.id)) ?? {};
  expect(entries.map(({ at }) => at.slice(11, 19))).toEqual(['23:05:00', '23:05:00']);
  expect(await netOf(context, row.id), 'returned at the instant of the payment').toEqual({});
});

test('days whose money moves are reported as changed, and a refund follows its payment', async () => {
  const { context } = environment;
  const whole = { ...makeShownTransaction(['pending@0', 'paid@5', 'refund@9']), date_created: CREATED };
  await applyRows(context, { ...whole, events: [], status: 'paid' }, { ...whole, events: [] });
  await makeReport(context, '2026-11-19');
  await makeReport(context, '2026-11-20');
  await applyRows(context, whole);
  const reported = await readMismatchRows(context, 'closed_day_changed');
  expect(reported.map((one) => (one.expected as { revision: number }).revision)).toHaveLength(2);
  const available = Object.entries(await netOf(context, whole.id)).filter(([key]) => key.includes('Available'));
  expect(available).toEqual([
    ['Assets:Provider:Available:none @ 2026-11-20 23:05:00', 1000n],
    ['Assets:Provider:Available:none @ 2026-11-20 23:09:00', -1000n],
  ]);
  const report = await makeReport(context, '2026-11-19');
  expect(report).toMatchObject({ changed: true, report: { revision: 2 } });
});

test('merchants notified of the inferred payment get a correction, and no second payment', async () => {
  const { context } = environment;
  const make = async (name: string, since: string) =>
    (
      await createMerchant(context, {
        name,
        url: `https://${name}.example/`,
        eventsSince: new Date(since),
        filter: { platforms: ['m'] },
      })
    ).merchant.seq;
  const heard = await make('heard', '2026-01-01T00:00:00Z');
  const late = await make('late', '2026-11-20T12:00:00Z');
  const { whole, bare } = comesLater({ platform: 'm' });
  await applyRows(context, bare, whole);
  const callbacks = async (merchant: number) =>
    await context.db
      .selectFrom('callbacks')
      .selectAll()
      .where('merchant_seq', '=', merchant)
      .orderBy('sequence')
      .execute();
  const types = async (merchant: number) => (await callbacks(merchant)).map((row) => row.type);
  expect(await types(heard)).toEqual(['pix.cashin.paid', 'pix.cashin.pending', 'pix.cashin.corrected']);
  expect(await types(late), 'it never heard of the inferred one, of before its events').toEqual([
    'pix.cashin.pending',
    'pix.cashin.paid',
  ]);
  const corrected = (await callbacks(heard)).at(-1);
  const bodies = await renderBodies(context, [
    {
      seq: corrected?.seq ?? 0,
      transactionSeq: corrected?.transaction_seq ?? null,
      eventSeq: null,
      sequence: corrected?.sequence ?? 0,
      type: corrected?.type ?? '',
      previousStatus: corrected?.previous_status ?? null,
      source: 'reconciliation',
      createdAt: new Date(),
    },
  ]);
  expect(bodies.get(corrected?.seq ?? 0)).toMatchObject({
    data: {
      before: { status: 'paid', status_at: '2026-11-19T23:00:00-03:00' },
      after: { status: 'paid', status_at: '2026-11-20T23:05:00-03:00' },
    },
  });
});

describe('skew', () => {
  test('a refund a second before its payment, in the order of the array, is a refund', async () => {
    const { context } = environment;
    const row = makeShownTransaction(['pending@0', 'paid@3', 'refund@2'], { platform: 'p' });
    await applyRows(context, row);
    expect((await describeTransaction(context.db, context.calendar, row.id))?.transaction.status).toBe('refund');
    const available = Object.entries(await netOf(context, row.id)).filter(([key]) => key.includes('Available'));
    expect(available.reduce((sum, [, cents]) => sum + cents, 0n)).toBe(0n);
  });

  test('a cashout denied a second before its analysis holds nothing', async () => {
    const { context } = environment;
    const row = makeShownTransaction(['pending@0', 'in_analysis@3', 'denied@2'], {
      operation: 'cashout',
      platform: 'p',
    });
    await applyRows(context, row);
    const held = Object.entries(await netOf(context, row.id)).filter(([key]) => key.includes('Held'));
    expect(held.reduce((sum, [, cents]) => sum + cents, 0n)).toBe(0n);
  });

  test('an order that the provider shows differently later is adopted, reposted and reported', async () => {
    const { context } = environment;
    const { merchant } = await createMerchant(context, {
      name: 'skew',
      url: 'https://skew.example/',
      eventsSince: new Date(0),
      filter: { platforms: ['skew'] },
    });
    const first = makeShownTransaction(['pending@0', 'refund@2', 'paid@2'], { platform: 'skew' });
    const then = { ...makeShownTransaction(['pending@0', 'paid@2', 'refund@2'], { platform: 'skew' }), id: first.id };
    await applyRows(context, first, then);
    expect(await historyOf(context, first.id)).toEqual([
      'refund 2026-11-20T23:02:00',
      'paid 2026-11-20T23:02:00',
      'pending 2026-11-20T23:00:00',
    ]);
    expect(await netOf(context, first.id)).toEqual({});
    const types = await context.db
      .selectFrom('callbacks')
      .select('type')
      .where('merchant_seq', '=', merchant.seq)
      .execute();
    expect(types.map((row) => row.type)).toContain('pix.cashin.corrected');
    expect(await checkBooks(context)).toMatchObject({ broken: 0, breaks: [] });
  });
});

describe('a history of an earlier version', () => {
  /** As it kept such histories: ordered by time, and an inferred event in place of the real one. */
  async function writeAsBefore(context: Context) {
    const skewed = makeShownTransaction(['pending@0', 'paid@3', 'refund@2'], { platform: 'old' });
    const inferred = comesLater({ platform: 'old' });
    await applyRows(
      context,
      { ...makeShownTransaction(['pending@0', 'refund@2', 'paid@3'], { platform: 'old' }), id: skewed.id },
      inferred.bare,
    );
    await dropTriggers(context.db);
    const seqOf = async (id: string) =>
      (await context.db.selectFrom('transactions').select('seq').where('id', '=', id).executeTakeFirstOrThrow()).seq;
    const [one, other] = [await seqOf(skewed.id), await seqOf(inferred.id)];
    await context.db.updateTable('transactions').set({ ordered_at: null }).where('seq', 'in', [one, other]).execute();
    for (const [status, position] of [
      ['paid', 1],
      ['refund', 2],
    ] as const) {
      await context.db
        .updateTable('events')
        .set({ position })
        .where('transaction_seq', '=', one)
        .where('status', '=', status)
        .execute();
    }
    const event = { occurrence: 0, sequence: 2, inferred: 0, seen_at: new Date(), source_kind: 'show' };
    await context.db
      .insertInto('events')
      .values({ ...event, transaction_seq: other, status: 'pending', at_wall: '2026-11-20 23:00:00', position: 0 })
      .execute();
    await context.db.updateTable('transactions').set({ event_count: 2 }).where('seq', '=', other).execute();
    // a second payment stood beside the inferred one, which had kept the first out
    const twice = comesLater({ platform: 'old' });
    await applyRows(context, twice.bare);
    const third = await seqOf(twice.id);
    await context.db
      .insertInto('events')
      .values({ ...event, transaction_seq: third, status: 'paid', at_wall: '2026-11-20 23:09:00', position: 2 })
      .execute();
    await context.db
      .updateTable('transactions')
      .set({ event_count: 2, sequence: 2 })
      .where('seq', '=', third)
      .execute();
    // cast: the listing is that of a migration, which knows no table types
    await listHistories(context.db as unknown as Kysely<unknown>);
    return { skewed, inferred, twice };
  }

  test('an entry of an inferred event that was dated before the one it follows is dated anew', async () => {
    await using before = await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' });
    const { context } = before;
    const row = makeShownTransaction(['pending@0', 'paid@5']);
    await applyRows(context, row, { ...row, status: 'refund', events: [] });
    const now = await netOf(context, row.id);
    expect(Object.keys(now)).toEqual([]);
    await dropTriggers(context.db);
    const entry = await context.db.selectFrom('entries').select('seq').orderBy('seq', 'desc').executeTakeFirstOrThrow();
    await context.db.updateTable('entries').set({ at_wall: row.date_created }).where('seq', '=', entry.seq).execute();
    await context.db
      .updateTable('postings')
      .set({ at_wall: row.date_created })
      .where('entry_seq', '=', entry.seq)
      .execute();
    expect(Object.keys(await netOf(context, row.id))).toHaveLength(4);
    // cast: as above
    await listDatedEntries(context.db as unknown as Kysely<unknown>);
    expect(await correctStoredHistories(context)).toEqual({ corrected: 1, asked: 0 });
    expect(await netOf(context, row.id)).toEqual({});
    expect(await checkBooks(context)).toMatchObject({ broken: 0, breaks: [] });
    const audited = await context.db
      .selectFrom('audit')
      .select('target')
      .where('action', '=', 'history.mend')
      .execute();
    expect(audited).toEqual([{ target: row.id }]);
  });

  test('is corrected once by new entries, and reported in the audit log, to merchants and by doctor', async () => {
    await using before = await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' });
    const { context } = before;
    const { skewed, inferred, twice } = await writeAsBefore(context);
    expect(await countCorrectedHistories(context.db)).toEqual({ left: 3, corrected: 0, waiting: 0 });
    expect(await correctStoredHistories(context)).toEqual({ corrected: 3, asked: 2 });
    expect(await correctStoredHistories(context)).toEqual({ corrected: 0, asked: 0 });
    expect(await countCorrectedHistories(context.db)).toEqual({ left: 0, corrected: 3, waiting: 2 });
    expect(await netOf(context, skewed.id)).toEqual({
      'Assets:Provider:Available:old @ 2026-11-20 23:02:00': -1000n,
      'Assets:Provider:Available:old @ 2026-11-20 23:03:00': 1000n,
      'Liabilities:Receipts:old @ 2026-11-20 23:02:00': 1000n,
      'Liabilities:Receipts:old @ 2026-11-20 23:03:00': -1000n,
    });
    expect((await describeTransaction(context.db, context.calendar, skewed.id))?.transaction).toMatchObject({
      status: 'refund',
    });
    const audited = await context.db
      .selectFrom('audit')
      .select(['actor', 'target', 'detail'])
      .where('action', '=', 'history.mend')
      .execute();
    expect(audited).toMatchObject([
      { actor: 'confere', target: skewed.id },
      { actor: 'confere', target: inferred.id },
      { actor: 'confere', target: twice.id },
    ]);
    expect(await historyOf(context, twice.id)).toEqual(['paid 2026-11-20T23:09:00']);
    expect(Object.keys(await netOf(context, twice.id)).every((key) => key.endsWith('23:09:00'))).toBe(true);
    expect(JSON.parse(audited[0]?.detail ?? '')).toMatchObject({ status: { before: 'paid', after: 'refund' } });
    expect(await checkBooks(context)).toMatchObject({ broken: 0, breaks: [] });

    // the next observation is taken whole, though it is the one that the earlier version saw last
    await applyRows(context, inferred.whole);
    expect(await historyOf(context, inferred.id)).toEqual(['paid 2026-11-20T23:05:00', 'pending 2026-11-20T23:00:00']);
    expect(await countCorrectedHistories(context.db)).toMatchObject({ waiting: 1 });
    expect(await checkBooks(context)).toMatchObject({ broken: 0, breaks: [] });
  });
});
