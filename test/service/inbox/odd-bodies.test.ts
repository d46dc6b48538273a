import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SENDER_SHOWS_PER_HOUR } from '../../../src/inbox/receive/plan-shows.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { type InboxEnvironment, openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { makeShownTransaction, readMismatchRows } from '../../support/read-ledger-state.ts';

const PAID = ['pending@0', 'paid@1'];

let env: InboxEnvironment;
beforeEach(async () => {
  env = await openInboxEnvironment();
});
afterEach(() => env[Symbol.asyncDispose]());

const put = (history: string[], more: Partial<ShownTransaction> = {}) =>
  env.provider.put(makeShownTransaction(history, { id: randomUUID(), ...more }));
const know = (row: ShownTransaction) => applyObservations(env.context, [observe(row, env.context.clock.now())]);
const statusOf = async (id: string) =>
  (await env.context.db.selectFrom('transactions').select('status').where('id', '=', id).executeTakeFirst())?.status;
/** Sends a body and waits for its end. */
async function send(body: unknown, state = 'applied') {
  const received = await env.receive(body);
  expect(received.defect).toBeUndefined();
  return await env.waitForState(received.id, state);
}
const lists = () => env.provider.requests.filter(({ kind }) => kind === 'list').length;

describe('two attempts under one reference', () => {
  test('that the ledger knows are both fetched, and the payment of the second is applied', async () => {
    const expired = put(['pending@0', 'expired@1'], { reference: 'pedido-1042' });
    const second = put(['pending@2'], { reference: 'pedido-1042' });
    for (const row of [expired, second]) await know(row);
    env.provider.addEvent(second.id, 'paid');
    const webhook = await send({ reference: 'pedido-1042', status: 'paid', amount: '10.00' });
    expect(webhook.items_detail).toMatchObject([{ transaction_id: second.id, contradicted: false }]);
    expect(await statusOf(second.id)).toBe('paid');
    expect(await statusOf(expired.id)).toBe('expired');
    expect(await readMismatchRows(env.context, 'webhook_quarantined')).toEqual([]);
  });

  test('that the ledger does not know are both applied from one page of the list', async () => {
    const canceled = put(['pending@0', 'canceled@1'], { reference: 'fatura 7' });
    const second = put(['pending@2', 'paid@3'], { reference: 'fatura 7' });
    await send({ transaction_reference: 'fatura 7', status: 'paid' });
    expect([await statusOf(canceled.id), await statusOf(second.id)]).toEqual(['canceled', 'paid']);
    expect(lists()).toBe(1);
  });

  test('of which the ledger knows the first alone are both fetched once the first does not show the claim', async () => {
    const first = put(['pending@0', 'expired@1'], { reference: 'boleto-3' });
    await know(first);
    const second = put(['pending@2', 'paid@3'], { reference: 'boleto-3' });
    const webhook = await send({ reference: 'boleto-3', status: 'paid' });
    expect(webhook.items_detail).toMatchObject([{ transaction_id: second.id }]);
    expect(await statusOf(second.id)).toBe('paid');
  });

  test('that the claim fits alike are both applied; the webhook is ambiguous', async () => {
    const rows = [0, 1].map(() => put(PAID, { reference: 'same' }));
    expect(await send({ reference: 'same', status: 'paid' }, 'quarantined')).toMatchObject({ reason: 'ambiguous' });
    for (const { id } of rows) expect(await statusOf(id)).toBe('paid');
  });

  test('whose claim fits neither is a contradiction of the latest attempt', async () => {
    put(['pending@0', 'expired@1'], { reference: 'none' });
    const latest = put(['pending@5'], { reference: 'none', date_created: '2027-01-01 10:00:00' });
    await send({ reference: 'none', status: 'paid' });
    expect(await readMismatchRows(env.context, 'webhook_contradiction')).toMatchObject([{ transaction_id: latest.id }]);
  });

  test('eleven of them are ambiguous', async () => {
    for (let attempt = 0; attempt < 11; attempt++) put(['pending@0'], { reference: 'eleven' });
    expect(await send({ reference: 'eleven', status: 'paid' }, 'quarantined')).toMatchObject({ reason: 'ambiguous' });
  });
});

describe('several transactions of one extra', () => {
  test('are all shown, at the cost of the sender, and the one that fits ends the item', async () => {
    const rows = [0, 1, 2].map(() => put(['pending@0'], { extra: 'mesa 4' }));
    for (const row of rows) await know(row);
    const [first] = rows;
    env.provider.addEvent(first?.id ?? '', 'paid');
    await send({ extra: 'mesa 4', status: 'paid' });
    expect(await statusOf(first?.id ?? '')).toBe('paid');
    const sender = await env.context.db.selectFrom('senders').select('shows').executeTakeFirst();
    expect(sender?.shows).toBe(2);
  });

  test('are not shown for a sender whose budget is spent', async () => {
    for (const row of [0, 1].map(() => put(PAID, { extra: 'mesa 5' }))) await know(row);
    const spent = { hour_at: env.context.clock.now(), shows: SENDER_SHOWS_PER_HOUR };
    await env.context.db
      .insertInto('senders')
      .values({ address: '127.0.0.1', ...spent })
      .execute();
    await send({ extra: 'mesa 5', status: 'paid' }, 'quarantined');
    expect(env.provider.requests).toEqual([]);
  });

  test('cost one POST of many items no more than ten requests a fetch', async () => {
    for (const extra of ['a', 'b', 'c', 'd', 'e', 'f'])
      for (const row of [0, 1].map(() => put(PAID, { extra }))) await know(row);
    await send(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((extra) => ({ extra, status: 'paid' })),
      'quarantined',
    );
    expect(env.provider.requests).toEqual([]);
  });
});

describe("a flat body whose UUID `id` is the event's", () => {
  test.each([true, false])('is looked up by its reference (known to the ledger: %s)', async (isKnown) => {
    const row = put(PAID, { reference: 'pedido-1042' });
    if (isKnown) await know(row);
    const event = randomUUID();
    const body = { id: event, event: 'transaction.paid', reference: 'pedido-1042', status: 'paid' };
    const webhook = await send(body);
    expect(webhook.items_detail).toMatchObject([{ transaction_id: row.id, contradicted: false }]);
    expect(await statusOf(row.id)).toBe('paid');
    expect(env.provider.countShows(event)).toBeGreaterThan(0);
  });

  test('is looked up by its extra where the reference is unknown', async () => {
    const row = put(['pending@0'], { extra: 'comanda 12' });
    await know(row);
    env.provider.addEvent(row.id, 'paid');
    await send({ id: randomUUID(), reference: 'evt-1', extra: 'comanda 12', status: 'paid' });
    expect(await statusOf(row.id)).toBe('paid');
  });

  test('and whose reference has another history stays unknown: it may be about a stranger’s payment', async () => {
    const row = put(['pending@0'], { reference: 'pedido-7' });
    const body = { transaction_id: randomUUID(), reference: 'pedido-7', status: 'paid' };
    expect(await send(body, 'quarantined')).toMatchObject({ reason: 'unknown_at_provider' });
    expect(await statusOf(row.id)).toBe('pending');
    expect(await readMismatchRows(env.context, 'webhook_contradiction')).toEqual([]);
  });

  test('an id that is shown a moment later counts, not what has its reference', async () => {
    put(PAID, { reference: 'pedido-8' });
    const late = makeShownTransaction(PAID, { id: randomUUID(), reference: 'pedido-8' });
    const shows = () => env.provider.countShows(late.id);
    env.provider.switches.beforeResponse = () => {
      if (shows() === 2) env.provider.put(late);
    };
    const webhook = await send({ transaction_id: late.id, reference: 'pedido-8', status: 'paid' });
    expect(webhook.items_detail).toMatchObject([{ transaction_id: late.id }]);
  });

  test('asks the list for an unknown reference once, at the first miss', async () => {
    await send({ id: randomUUID(), reference: 'nobody', status: 'paid' }, 'quarantined');
    expect(lists()).toBe(1);
  });
});

describe('a body in another encoding', () => {
  test('Latin-1 gives its ASCII keys as a hint', async () => {
    const row = put(PAID);
    const text = JSON.stringify({ transaction_id: row.id, extra: 'promoção de verão', status: 'paid' });
    await send(Buffer.from(text, 'latin1'));
    expect(await statusOf(row.id)).toBe('paid');
  });

  test.each([1, 2])('JSON that was encoded twice is read once more (%s transactions)', async (count) => {
    const rows = Array.from({ length: count }, () => put(PAID));
    const items = rows.map(({ id }) => ({ transaction_id: id, status: 'paid' }));
    await send(JSON.stringify(JSON.stringify(count === 1 ? items[0] : items)));
    for (const { id } of rows) expect(await statusOf(id)).toBe('paid');
  });
});

test('a reference that is a number beyond 2^53 names one transaction of two that are one double', async () => {
  const digits = ['98765432109876543211', '98765432109876543212'];
  const rows = digits.map((_, index) => makeShownTransaction(PAID, { id: randomUUID(), reference: `@${index}` }));
  const page = JSON.stringify({ transactions: rows, total: 2, last_page: 1 });
  const text = digits.reduce((all, number, index) => all.replace(`"@${index}"`, number), page);
  env.provider.switches.fault = ({ kind }) => (kind === 'list' ? { text } : undefined);
  await send(`{"reference":${digits[1]},"status":"paid"}`);
  const held = await env.context.db.selectFrom('transactions').select(['id', 'reference']).execute();
  expect(held).toEqual([{ id: rows[1]?.id, reference: digits[1] }]);
});

test('an extra that is an object names the same transaction as in the list, in any order of its names', async () => {
  const row = put(PAID, { extra: { order: 1042, loja: 'sp', itens: [1.5, null] } as never });
  await know(row);
  env.provider.requests = [];
  const webhook = await send('{"extra":{"loja":"sp", "itens":[1.5,null], "order":1042},"status":"paid"}');
  expect(webhook.items_detail).toMatchObject([{ transaction_id: row.id }]);
  expect(env.provider.countShows(row.id)).toBe(1);
});
