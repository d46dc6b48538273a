/** Histories that come later, or in another order. */
import { describe, expect, test } from 'vitest';
import { renderBodies } from '../../../src/callbacks/render/render-bodies.ts';
import type { Context } from '../../../src/context.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { describeTransaction } from '../../../src/ledger/read/describe-transaction.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { readBalances } from '../../../src/seal/read-balances.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, readLedgerState, readMismatchRows } from '../../support/read-ledger-state.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const home = closeAfterAll(temporaryDirectory());
const environment = closeAfterAll(
  await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z', DATA_DIR: home.path }),
);

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
