import { describe, expect, it } from 'vitest';
import { formatCents, parseCents } from '../../../sandbox/domain/money.ts';
import { addDays } from '../../../sandbox/domain/wall-clock.ts';
import type { StoryCounts } from '../../../sandbox/http/admin/create-story.ts';
import type { BooksDay } from '../../../sandbox/http/admin/read-books.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { type Shown, startTestSandbox, startWebhookReceiver } from '../../support/start-test-sandbox.ts';

const sandbox = closeAfterAll(await startTestSandbox());

async function put(...transactions: object[]): Promise<Shown[]> {
  const { status, json } = await sandbox.request('POST', '/sandbox/transactions', { transactions });
  expect(status).toBe(201);
  return json.transactions;
}

async function show(id: string) {
  return sandbox.request('GET', `/api/v1/transaction/${id}`);
}

async function total(query: string): Promise<number> {
  return (await sandbox.request('GET', `/api/v1/transactions?${query}`)).json.total;
}

describe('transactions of an admin', () => {
  it('are stored with every field and the history given, newest first', async () => {
    const wish = {
      id: '11111111-2222-4333-8444-555555555555',
      operation: 'cashin',
      amount: '120.5',
      commission: '1.19',
      name: 'Zé',
      email: 'z@z.br',
      phone: '119',
      document: 'x',
      description: 'd',
      platform: 'ffffffff-5a55-4b3c-9a51-1b5d7b3d1a01',
      reference: 'order-1',
      extra: 'cart',
      e2e_id: 'E1',
      date_created: '2026-01-31 23:28:00',
      events: [
        { status: 'refund', date_created: '2026-02-02 10:00:00' },
        { status: 'paid', date_created: '2026-01-31 23:30:00' },
        { status: 'pending', date_created: '2026-01-31 23:28:00' },
      ],
    };
    const [stored] = await put(wish);
    expect(stored).toMatchObject({ ...wish, amount: '120.50', status: 'refund' });
    expect((await show(wish.id)).json.transaction[0]).toEqual(stored);
  });

  it('get generated fields where none are given, and may repeat a reference', async () => {
    const made = await put({ reference: 'twin' }, { reference: 'twin', operation: 'cashout', status: 'paid' });
    expect(made.map(({ status }) => status)).toEqual(['pending', 'paid']);
    expect(await total('reference=twin')).toBe(2);
    const { status } = await sandbox.request('POST', '/sandbox/transactions', {});
    expect(status).toBe(201);
  });

  it('are refused together if an id is taken or a field is wrong', async () => {
    const [one] = await put({});
    const before = await total('');
    for (const wrong of [
      [{}, { id: one?.id }],
      [{}, { amount: '1,00' }],
      [{}, { date_created: '2026-02-30 00:00:00' }],
      [{}, { colour: 'red' }],
    ]) {
      const { status } = await sandbox.request('POST', '/sandbox/transactions', { transactions: wrong });
      expect(status).toBe(422);
    }
    expect(await total('')).toBe(before);
  });

  it('move by any event, at any time', async () => {
    const [one] = await put({ date_created: '2026-01-10 10:00:00' });
    const path = `/sandbox/transactions/${one?.id}/events`;
    expect((await sandbox.request('POST', path, { status: 'partially_paid', at: '2026-01-10 11:00:00' })).status).toBe(
      201,
    );
    expect((await sandbox.request('POST', path, { status: 'pending', at: '2026-01-09 11:00:00' })).status).toBe(201);
    expect((await show(one?.id ?? '')).json.transaction[0].events).toEqual([
      { date_created: '2026-01-09 11:00:00', status: 'pending' },
      { date_created: '2026-01-10 11:00:00', status: 'partially_paid' },
      { date_created: '2026-01-10 10:00:00', status: 'pending' },
    ]);
    expect((await sandbox.request('POST', '/sandbox/transactions/none/events', { status: 'paid' })).status).toBe(404);
  });

  it('are shown with overridden fields until the overrides are removed', async () => {
    const [one] = await put({ amount: '10.00', status: 'paid' });
    const path = `/sandbox/transactions/${one?.id}`;
    await sandbox.request('PATCH', path, { shown: { amount: '9.99', status: 'settled', name: { $missing: true } } });
    await sandbox.request('PATCH', path, { shown: { commission: 'free' } });
    const [shown] = (await show(one?.id ?? '')).json.transaction;
    expect(shown).toMatchObject({ amount: '9.99', status: 'settled', commission: 'free' });
    expect(shown).not.toHaveProperty('name');
    await sandbox.request('PATCH', path, { shown: null });
    expect((await show(one?.id ?? '')).json.transaction[0]).toEqual(one);
  });

  it('change their stored facts', async () => {
    const [one] = await put({ amount: '10.00' });
    await sandbox.request('PATCH', `/sandbox/transactions/${one?.id}`, {
      amount: '11.00',
      reference: 'new',
      commission: '0.5',
    });
    const [changed] = (await show(one?.id ?? '')).json.transaction;
    expect(changed).toMatchObject({ amount: '11.00', reference: 'new', commission: '0.50' });
    expect(await total('reference=new')).toBe(1);
  });

  it('are hidden from the list or by id, shown again, or deleted, and the totals follow', async () => {
    const day = 'initial_date=2026-01-20&final_date=2026-01-20';
    const [one] = await put({ date_created: '2026-01-20 10:00:00' }, { date_created: '2026-01-20 10:00:00' });
    const path = `/sandbox/transactions/${one?.id}`;
    await sandbox.request('DELETE', `${path}?from=list`);
    expect([await total(day), (await show(one?.id ?? '')).status]).toEqual([1, 200]);
    await sandbox.request('PATCH', path, { listed: true });
    await sandbox.request('DELETE', `${path}?from=show`);
    expect([await total(day), (await show(one?.id ?? '')).status]).toEqual([2, 404]);
    await sandbox.request('PATCH', path, { visible: true });
    expect((await show(one?.id ?? '')).status).toBe(200);
    expect((await sandbox.request('DELETE', path)).status).toBe(200);
    expect([await total(day), (await show(one?.id ?? '')).status]).toEqual([1, 404]);
    expect((await sandbox.request('DELETE', path)).status).toBe(404);
  });
});

type Books = { days: BooksDay[]; total: BooksDay };

async function books(from: string, to: string): Promise<Books> {
  return JSON.parse((await sandbox.request('GET', `/sandbox/books?from=${from}&to=${to}`)).text);
}

describe('the books', () => {
  it('sum receipts, payments, commissions and refunds by the day of their event', async () => {
    const platform = 'aaaaaaaa-5a55-4b3c-9a51-1b5d7b3d1a01';
    const event = (status: string, date_created: string) => ({ status, date_created });
    const pending = event('pending', '2025-05-01 23:00:00');
    const late = event('paid', '2025-05-01 23:30:00');
    const next = event('paid', '2025-05-02 00:00:01');
    await put(
      { platform, amount: '100.01', commission: '1.00', events: [late, pending] },
      { platform, amount: '50.00', commission: '0.50', events: [next, pending] },
      { platform, amount: '7.00', commission: '0.07', events: [event('refund', '2025-05-02 09:00:00'), late, pending] },
      { platform, operation: 'cashout', amount: '30.00', commission: '1.00', events: [next, pending] },
      {
        platform,
        operation: 'cashout',
        amount: '3.00',
        commission: '1.00',
        events: [event('refund', '2025-05-02 10:00:00'), next, pending],
      },
      { platform, amount: '999.00', events: [pending] },
    );
    const { days, total: sum } = await books('2025-05-01', '2025-05-02');
    const of = (day: string) => days.find((one) => one.day === day && one.platform === platform);
    expect(of('2025-05-01')).toMatchObject({
      receipts: '107.01',
      receipt_commissions: '1.07',
      payments: '0.00',
      net: '105.94',
    });
    expect(of('2025-05-02')).toMatchObject({
      receipts: '50.00',
      payments: '33.00',
      payment_commissions: '2.00',
      refunds_made: '7.00',
      refunds_received: '3.00',
      net: '10.50',
      counts: { receipts: 1, payments: 2, refunds_made: 1, refunds_received: 1 },
    });
    expect(sum).toMatchObject({ receipts: '157.01', net: '116.44' });
  });

  it('equal the sums that a client computes from the list, to the cent', async () => {
    const today = sandbox.sandbox.clock.toWall(Date.now()).slice(0, 10);
    await sandbox.request('POST', '/sandbox/stories', { count: 400, days: 2, seed: 'books' });
    const yesterday = addDays(today, -1);
    let receipts = 0n;
    for (let page = 1, more = true; more; page++) {
      const { json } = await sandbox.request('GET', `/api/v1/transactions?page=${page}`);
      for (const { operation, amount, events } of json.transactions) {
        const paid = events.find(({ status }) => status === 'paid');
        if (operation === 'cashin' && paid?.date_created.startsWith(yesterday)) receipts += parseCents(amount) ?? 0n;
      }
      more = json.next_page_url !== false;
    }
    expect((await books(yesterday, yesterday)).total.receipts).toBe(formatCents(receipts));
  });
});

describe('a story', () => {
  it('makes finished transactions and webhooks with every fate, and returns their counts', async () => {
    await using receiver = await startWebhookReceiver();
    await using teller = await startTestSandbox(['--webhook-url', receiver.url, '--webhook-token', 'wht']);
    const asked = { count: 600, days: 3, seed: 's', forge: 0.05, late_by_ms: 60_000 };
    const counts: StoryCounts = JSON.parse((await teller.request('POST', '/sandbox/stories', asked)).text);
    expect(counts.transactions).toBe(600);
    const { webhooks } = counts;
    for (const made of Object.values(webhooks)) expect(made).toBeGreaterThan(0);
    const flushed = JSON.parse((await teller.request('POST', '/sandbox/webhooks/flush')).text);
    expect(flushed).toMatchObject({ due: 0, failed: 0, delivered: webhooks.to_send, lost: webhooks.lost });
    expect(receiver.received).toHaveLength(webhooks.to_send);
    const range = `initial_date=${counts.from}&final_date=${counts.to}`;
    const { json } = await teller.request('GET', `/api/v1/transactions?${range}`);
    expect(json.total).toBeGreaterThanOrEqual(590); // a finished transaction may begin the day before the first
  });

  it('has payments at 23:30, on the other side of midnight, and refunds, on each past day', async () => {
    await using teller = await startTestSandbox();
    await teller.request('POST', '/sandbox/stories', { count: 60, days: 3, seed: 'edges' });
    const { json } = await teller.request('GET', '/api/v1/transactions?status=paid');
    const paidAt = json.transactions.map(({ date_created, events }) => [date_created, events[0]?.date_created ?? '']);
    expect(paidAt.filter(([, paid]) => paid?.endsWith('23:30:00')).length).toBeGreaterThanOrEqual(2);
    expect(paidAt.filter(([made, paid]) => made?.slice(0, 10) !== paid?.slice(0, 10)).length).toBeGreaterThanOrEqual(4);
    expect((await teller.request('GET', '/api/v1/transactions?status=refund')).json.total).toBeGreaterThanOrEqual(2);
  });
});
