import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { countBackfill } from '../../../src/callbacks/backfill/count-backfill.ts';
import { type findCallback, selectCallbacks } from '../../../src/callbacks/manage/read-callbacks.ts';
import { readMessage } from '../../../src/callbacks/manage/read-message.ts';
import { replay } from '../../../src/callbacks/manage/replay.ts';
import { expectedEventSchema } from '../../../src/callbacks/render/event-schema.ts';
import { cancelExpected, reopenExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { matchExpected, unmatchExpected } from '../../../src/expected/match-by-hand.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { updateMerchant } from '../../../src/merchants/change-merchants.ts';
import type { FilterInput } from '../../../src/merchants/match-filter.ts';
import { parseFilter } from '../../../src/merchants/match-filter.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import type { ShownTransaction } from '../../support/make-observations.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { makeShownTransaction, observeNow, readMismatchRows } from '../../support/read-ledger-state.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const CPF = '52998224725';
const by = { actor: 'test', note: 'visto no extrato' };
type Body = z.infer<typeof expectedEventSchema>;

const env = closeAfterAll(await openCallbackEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' }));
const shop = closeAfterAll(await openMerchantServer());
beforeAll(async () => {
  await env.deliver();
});

async function put(number: string, more: Record<string, unknown> = {}): Promise<string> {
  const given = { operation: 'cashin', amount: '20.00', due_day: '2026-11-20', issued_day: '2026-11-10', ...more };
  const facts = expectedFactsSchema.parse({ references: [`ref-${number}`], ...given });
  const [outcome] = await putExpected(env.context, { arrivals: [{ source: 'shop', number, facts }], actor: 'test' });
  await decideAll(env.context);
  return outcome?.id ?? '';
}

async function pay(row: ShownTransaction): Promise<ShownTransaction> {
  await applyObservations(env.context, [observeNow(env.context, row)]);
  await decideAll(env.context);
  return row;
}

const paid = (reference: string, amount = '10.00'): ShownTransaction =>
  makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), reference, amount });

const refunded = (row: ShownTransaction): ShownTransaction => ({
  ...row,
  status: 'refund',
  events: [{ status: 'refund', date_created: '2026-11-20 23:05:00' }, ...row.events],
});

async function addMerchant(path: string, filter: FilterInput = { expected: true }) {
  return (await env.addMerchant(`${shop.url}${path}`, { filter })).merchant;
}

/** The messages that a merchant was sent about an order, in the order in which it came. */
async function receive(path: string, id: string, count: number): Promise<{ id: string; body: Body }[]> {
  const ofOrder = () =>
    shop.callsTo(path).flatMap((call) => {
      if (!call.json.type.startsWith('pix.expected.')) return [];
      const body = expectedEventSchema.parse(call.json);
      return body.data.expected_payment.id === id ? [{ id: call.headers['webhook-id'] ?? '', body }] : [];
    });
  await eventually(`${count} messages of ${id}`, () => ofOrder().length >= count);
  return ofOrder();
}

const statesOf = (sent: { body: Body }[]): string[] => sent.map(({ body }) => body.data.expected_payment.state);

async function callbacksOf(merchantId: string, id: string) {
  return await selectCallbacks(env.context.db)
    .where('merchants.id', '=', merchantId)
    .where('expected_payments.id', '=', id)
    .orderBy('callbacks.sequence')
    .execute();
}

describe('a change of an expected payment', () => {
  test('reaches merchants that ask, with its facts and matches as of then, and a retry says the same', async () => {
    await addMerchant('/asks');
    await addMerchant('/does-not', {});
    const id = await put('a-1', { document: CPF, name: 'Maria da Silva', extra: 'caixa-1' });
    const one = await pay(paid('ref-a-1'));
    await put('a-1', { amount: '10.00', document: CPF, name: 'Maria Silva', extra: 'caixa-1' });
    await pay(refunded(one));
    const sent = await receive('/asks', id, 3);
    expect(statesOf(sent)).toEqual(['underpaid', 'paid', 'refunded']);
    expect(new Set(sent.map((message) => message.id)).size).toBe(3);
    const [first, second] = sent.map(({ body }) => body.data.expected_payment);
    expect(first).toMatchObject({
      amount: '20.00',
      paid: '10.00',
      difference: '-10.00',
      version: 1,
      name: 'Maria da Silva',
    });
    expect(first?.matches).toEqual([{ transaction_id: one.id, amount: '10.00', rule: 'reference' }]);
    expect(second).toMatchObject({
      amount: '10.00',
      paid: '10.00',
      version: 2,
      name: 'Maria Silva',
      state_at: sent[1]?.body.timestamp,
    });
    // undone and cancelled: what an earlier message says stays
    await unmatchExpected(env.context, { id, transactionId: one.id, ...by });
    await cancelExpected(env.context, { id, ...by });
    await decideAll(env.context);
    expect(statesOf(await receive('/asks', id, 4)).at(-1)).toBe('cancelled');
    const [row] = (await callbacksOf(await findMerchantId('/asks'), id)) as [Awaited<ReturnType<typeof findCallback>>];
    const again = expectedEventSchema.parse(await readMessage(env.context, row, 'standard'));
    const now = (current: string) => ({
      ...again,
      data: { expected_payment: { ...again.data.expected_payment, current_state: current } },
    });
    expect(again.data.expected_payment.current_state).toBe('cancelled');
    expect(now('')).toEqual({ ...sent[0]?.body, data: { expected_payment: { ...first, current_state: '' } } });
    expect(shop.callsTo('/does-not').filter((call) => call.json.type.startsWith('pix.expected'))).toEqual([]);
    // the texts of a person are in no copy
    const { db } = env.context;
    await db.updateTable('expected_texts').set({ document: null, name: null }).where('document', '=', CPF).execute();
    expect(
      expectedEventSchema.parse(await readMessage(env.context, row, 'standard')).data.expected_payment,
    ).toMatchObject({
      ...{ document: null, name: null, number: 'a-1' },
    });
  });

  test('says of each match what counted then: once a correction cut a payment too, and in any retry', async () => {
    await addMerchant('/cut');
    const [one, two] = [await pay(paid('cut-1', '100.00')), await pay(paid('cut-2', '30.00'))];
    const [other, id] = [await put('g-1', { amount: '60.00' }), await put('g-2', { amount: '70.00' })];
    const match = async (order: string, transactionId: string, amountCents: bigint) =>
      await matchExpected(env.context, { id: order, transactionId, amountCents, ...by });
    await match(other, one.id, 6_000n);
    await match(id, one.id, 4_000n);
    await match(id, two.id, 3_000n);
    await decideAll(env.context);
    const correct = async (amount: string) => {
      await applyObservations(env.context, [observeNow(env.context, { ...one, amount }, 1)]);
      const [found] = await readMismatchRows(env.context, 'amount_differs');
      await acceptMismatch(env.context, found?.id ?? '', { actor: 'test', note: 'visto' });
      await decideAll(env.context);
    };
    await correct('70.00');
    const sent = await receive('/cut', id, 2);
    const amountsOf = (body: Body) => {
      const { state, matches } = body.data.expected_payment;
      return [state, ...matches.map((part) => [part.transaction_id, part.amount])];
    };
    const said = [
      ['paid', [one.id, '40.00'], [two.id, '30.00']],
      ['underpaid', [one.id, '10.00'], [two.id, '30.00']],
    ];
    expect(sent.map(({ body }) => amountsOf(body))).toEqual(said);
    // later facts change nothing of what was said
    await unmatchExpected(env.context, { id: other, transactionId: one.id, ...by });
    await correct('65.00');
    const rows = (await callbacksOf(await findMerchantId('/cut'), id)).slice(0, 2);
    const again = [];
    for (const row of rows) {
      const found = row as Awaited<ReturnType<typeof findCallback>>;
      again.push(amountsOf(expectedEventSchema.parse(await readMessage(env.context, found, 'standard'))));
    }
    expect(again).toEqual(said);
  });

  test('is not sent for the first open, nor for what is not proven; a later open is', async () => {
    await addMerchant('/open');
    const id = await put('b-1', { due_day: '2031-01-01', amount: '10.00' });
    const over = await put('b-2');
    const one = await pay(paid('ref-b-1'));
    await unmatchExpected(env.context, { id, transactionId: one.id, ...by });
    await decideAll(env.context);
    expect(statesOf(await receive('/open', id, 2))).toEqual(['paid', 'open']);
    const head = env.context.db.selectFrom('expected_payments').select('state').where('id', '=', over);
    expect(await head.executeTakeFirst()).toEqual({ state: 'not_proven' });
    expect(await callbacksOf(await findMerchantId('/open'), over)).toEqual([]);
  });

  test('comes by the filter: prefixes are of the number or of any reference, statuses are none of it', async () => {
    await addMerchant('/filtered', { expected: true, statuses: ['denied'], reference_prefixes: ['ref-c-1', 'c-2'] });
    await addMerchant('/platform', { expected: true, platforms: ['other'] });
    const ids = [await put('c-1', { amount: '10.00' }), await put('c-2', { amount: '10.00' }), await put('c-3')];
    for (const number of ['c-1', 'c-2', 'c-3']) await pay(paid(`ref-${number}`));
    for (const id of ids.slice(0, 2)) expect(statesOf(await receive('/filtered', id, 1))).toEqual(['paid']);
    expect(await callbacksOf(await findMerchantId('/filtered'), ids[2] ?? '')).toEqual([]);
    expect(await callbacksOf(await findMerchantId('/platform'), ids[0] ?? '')).toEqual([]);
  });

  test('that comes again has another id, which says which time it comes', async () => {
    await addMerchant('/again');
    const id = await put('d-1', { amount: '10.00' });
    await pay(paid('ref-d-1'));
    for (let round = 0; round < 2; round++) {
      await cancelExpected(env.context, { id, ...by });
      await decideAll(env.context);
      await reopenExpected(env.context, { id, ...by });
      await decideAll(env.context);
    }
    const sent = await receive('/again', id, 5);
    expect(statesOf(sent)).toEqual(['paid', 'paid_after_cancel', 'paid', 'paid_after_cancel', 'paid']);
    expect(new Set(sent.map((message) => message.id)).size).toBe(5);
    // what a restored database has lost is sent again under the same ids
    const merchant = await findMerchantId('/again');
    const before = (await callbacksOf(merchant, id)).map((row) => row.webhook_id);
    await env.context.db.deleteFrom('callbacks').where('webhook_id', 'in', before).execute();
    await updateMerchant(env.context, merchant, { eventsSince: new Date('2019-01-01T00:00:00Z') });
    await runBackfills(env.context);
    expect((await callbacksOf(merchant, id)).map((row) => row.webhook_id)).toEqual(before);
  });

  test('that happened before comes in a backfill, in order, once; replays and their filters reach it', async () => {
    const id = await put('e-1', { amount: '10.00' });
    const one = await pay(paid('ref-e-1'));
    await pay(refunded(one));
    const filters = [parseFilter('{"expected":true,"reference_prefixes":["e-1"]}'), parseFilter('{}')];
    const past = { filters, eventsSince: new Date('2020-01-01T00:00:00Z') };
    expect(await countBackfill(env.context, undefined, past)).toMatchObject({ callbacks: 2, complete: true });
    const { id: merchant } = await addMerchant('/late', { expected: true, reference_prefixes: ['e-1', 'ref-e'] });
    await runBackfills(env.context);
    expect(statesOf(await receive('/late', id, 2))).toEqual(['paid', 'refunded']);
    await eventually('all delivered', async () =>
      (await callbacksOf(merchant, id)).every((row) => row.state === 'delivered'),
    );
    const range = { merchant, from: past.eventsSince, to: new Date('2100-01-01T00:00:00Z'), dryRun: true };
    const count = (filter?: FilterInput) => replay(env.context, { ...range, filter });
    expect([
      await count({ expected: true, reference_prefixes: ['e-1'] }),
      await count({ platforms: ['x'], expected: true }),
    ]).toEqual([2, 0]);
    const transactions = await count({});
    expect(await count()).toBe(transactions + 2);
  });

  test('is in the feed of a merchant without an address', async () => {
    const { merchant } = await env.addMerchant(shop.url, { url: null, filter: { expected: true } });
    const id = await put('f-1', { amount: '10.00' });
    await pay(paid('ref-f-1'));
    const rows = await callbacksOf(merchant.id, id);
    expect(rows).toMatchObject([{ type: 'pix.expected.paid', state: 'pending', next_attempt_at: null }]);
  });

  test('is refused for the format of the provider, which has no message for it', async () => {
    const bearer = { format: 'provider', bearerToken: 'a-token-of-the-merchant' } as const;
    await expect(env.addMerchant(shop.url, { ...bearer, filter: { expected: true } })).rejects.toMatchObject({
      fieldFaults: [{ field: 'filter.expected', reason: 'expected_format' }],
    });
    const { id } = await addMerchant('/format');
    await expect(updateMerchant(env.context, id, bearer)).rejects.toThrow();
  });

  test('says whether a payment is disputed now', async () => {
    await addMerchant('/disputes');
    const id = await put('disputed-1', { references: ['ref-disputed'], due_day: '2030-01-01' });
    await pay(paid('ref-disputed', '20.00'));
    // decided in the background: both changes would be one
    await receive('/disputes', id, 1);
    await put('disputed-2', { references: ['ref-disputed'], due_day: '2030-01-01' });
    const sent = await receive('/disputes', id, 2);
    expect(sent.map(({ body }) => [body.data.expected_payment.state, body.data.expected_payment.disputed])).toEqual([
      ['paid', false],
      ['open', true],
    ]);
  });
});

async function findMerchantId(path: string): Promise<string> {
  const row = await env.context.db
    .selectFrom('merchants')
    .select('id')
    .where('url', '=', `${shop.url}${path}`)
    .executeTakeFirstOrThrow();
  return row.id;
}
