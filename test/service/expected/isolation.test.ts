/** Orders of a merchant's token are decided within that merchant's filter, and disturb nothing outside of it. */
import { beforeAll, expect, it } from 'vitest';
import { up as giveMerchants } from '../../../migrations/0130-give-orders-their-merchant.ts';
import { selectCallbacks } from '../../../src/callbacks/manage/read-callbacks.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { findOrders, joinInvoice } from '../../../src/expected/join-invoice.ts';
import { createMerchant, updateMerchant } from '../../../src/merchants/change-merchants.ts';
import type { FilterInput } from '../../../src/merchants/match-filter.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { expectOne, payOne } from '../../support/expect-orders.ts';
import { openApiEnvironment } from '../../support/open-api-environment.ts';

const CPF = '52998224725';
const FACTS = { operation: 'cashin', amount: '1.00', due_day: '2026-12-20', issued_day: '2026-11-10' };
type Shop = Awaited<ReturnType<typeof openShop>>;
const env = closeAfterAll(await openApiEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' }));
let [alpha, beta, all]: Shop[] = [];
beforeAll(async () => {
  alpha = await openShop('alpha', { platforms: ['alpha'], expected: true });
  beta = await openShop('beta', { platforms: ['beta'], expected: true });
  all = await openShop('all', { expected: true });
});

/** A merchant, and the calls of its system. */
async function openShop(source: string, filter: FilterInput) {
  const { merchant } = await createMerchant(env.context, { name: source, url: 'http://127.0.0.1:9/', filter });
  const made = await env.call('POST', '/tokens', { role: 'merchant', merchant: merchant.id, sources: [source] });
  const call = async (method: string, address: string, body?: unknown) => {
    // at most 10 in a second
    await env.timers.advance(200);
    const to = `/expected-payments${/^(?:\?|$)/.test(address) ? address : `/${source}/${address}`}`;
    return (await callApi({ url: env.url, token: String(made.json.token) }, method, to, body)).json;
  };
  const read = async (number: string) => {
    await decideAll(env.context);
    return await call('GET', number);
  };
  return {
    id: merchant.id,
    call,
    read,
    async put(number: string, more: object) {
      await call('PUT', number, { ...FACTS, ...more });
      return await read(number);
    },
    /** Sources of the orders that it was sent changes of. */
    async sent() {
      const rows = await selectCallbacks(env.context.db).where('merchants.id', '=', merchant.id).execute();
      const ids = rows.flatMap((row) => row.expected_payment_id ?? []);
      const found = await env.context.db.selectFrom('expected_payments').select(['id', 'source']).execute();
      return [...new Set(found.filter(({ id }) => ids.includes(id)).map((one) => one.source))].sort();
    },
  };
}

const NOTHING = { state: 'open', paid: '0.00', matches: [], candidates: [] };

it('a reference of a payment that the merchant cannot see says nothing of it', async () => {
  await payOne(env.context, { platform: 'alpha', reference: 'ped-a8f6', amount: '52.51' });
  expect(await beta?.put('1', { references: ['ped-a8f6'] })).toMatchObject(NOTHING);
  // what it sees is found
  await payOne(env.context, { platform: 'beta', reference: 'ped-b', amount: '1.00' });
  expect(await beta?.put('2', { references: ['ped-b'] })).toMatchObject({ state: 'paid' });
});

it('a document says nothing of what its person paid elsewhere', async () => {
  const paid = { document: CPF, amount: '52.51' };
  await payOne(env.context, { ...paid, platform: 'alpha' });
  expect(await beta?.put('9', paid)).toMatchObject(NOTHING);
  expect(await alpha?.put('9', paid)).toMatchObject({ state: 'paid' });
});

it('an order of a merchant disturbs none whose payment it cannot see, also by many orders', async () => {
  await payOne(env.context, { platform: 'alpha', reference: 'ped-1001', amount: '1.00' });
  const wanted = { references: ['ped-1001'] };
  expect(await alpha?.put('1001', { ...wanted, platform: 'alpha' })).toMatchObject({ state: 'paid' });
  expect(await beta?.put('3', wanted)).toMatchObject(NOTHING);
  expect(await alpha?.read('1001')).toMatchObject({ state: 'paid', candidates: [] });
  // more than a value may have
  const many = Array.from({ length: 201 }, (_, row) => ({ ...FACTS, ...wanted, source: 'beta', number: `m-${row}` }));
  await beta?.call('POST', '', { expected_payments: many });
  expect(await alpha?.put('1001', { ...wanted, platform: 'alpha', amount: '2.00' })).toMatchObject({
    state: 'underpaid',
  });
  expect(await alpha?.sent()).toEqual(['alpha']);
});

it('a payment that two merchants see, and both name, is a candidate of both', async () => {
  await payOne(env.context, { platform: 'beta', reference: 'ped-both', amount: '1.00' });
  const wanted = { references: ['ped-both'] };
  expect(await beta?.put('4', wanted)).toMatchObject({ state: 'paid' });
  expect(await all?.put('4', wanted)).toMatchObject({ state: 'open', candidates: [{ reason: 'not_unique' }] });
  expect(await beta?.read('4')).toMatchObject({ state: 'open', candidates: [{ reason: 'not_unique' }] });
});

it('changes of an order that a merchant sent are sent to that merchant alone', async () => {
  await payOne(env.context, { platform: 'beta', reference: 'ped-5', amount: '1.00' });
  expect(await beta?.put('5', { references: ['ped-5'], platform: 'beta' })).toMatchObject({ state: 'paid' });
  expect([await alpha?.sent(), await beta?.sent(), await all?.sent()]).toEqual([['alpha'], ['beta'], []]);
});

it('a filter that changes decides again', async () => {
  await payOne(env.context, { platform: 'gamma', reference: 'ped-6', amount: '1.00' });
  expect(await beta?.put('6', { references: ['ped-6'] })).toMatchObject(NOTHING);
  const narrow = { platforms: ['beta'], expected: true };
  await updateMerchant(env.context, beta?.id ?? '', { filter: { ...narrow, platforms: ['beta', 'gamma'] } });
  expect(await beta?.read('6')).toMatchObject({ state: 'paid' });
  await updateMerchant(env.context, beta?.id ?? '', { filter: narrow });
  expect(await beta?.read('6')).toMatchObject(NOTHING);
});

it('an invoice that a merchant names gives it no person, and joins an order of ours first', async () => {
  const { context } = env;
  const invoice = { key: '7'.repeat(44), facts: { references: ['xped-7'], document: CPF, name: 'Maria da Silva' } };
  const named = async () => (await findOrders(context.db, [invoice])).get(invoice.key) ?? '';
  const order = await beta?.put('7', { references: ['xped-7'] });
  expect(await named()).toBe(order?.id);
  await joinInvoice(context, { order: await named(), invoice, actor: 'test' });
  expect(await beta?.read('7')).toMatchObject({ invoice_key: invoice.key, document: null, name: null });
  const ours = await expectOne(context, { references: ['xped-7'] });
  expect(await named()).toBe(ours);
});

it('an order of the version before becomes that of the token that sent it, and is decided again', async () => {
  await payOne(env.context, { platform: 'alpha', reference: 'ped-8', amount: '1.00' });
  await beta?.put('8', { references: ['ped-8'] });
  const { db } = env.context;
  await db.updateTable('expected_payments').set({ merchant_seq: null }).where('number', '=', '8').execute();
  await updateMerchant(env.context, beta?.id ?? '', { filter: { platforms: ['beta'], expected: true } });
  await payOne(env.context, { platform: 'alpha', reference: 'ped-8', amount: '1.00' });
  expect(await beta?.read('8')).toMatchObject({ state: 'paid_twice' });
  // cast: a migration knows no tables
  await giveMerchants(db as never);
  expect(await beta?.read('8')).toMatchObject(NOTHING);
});

it.each([
  ['reference', { reference: 'ped-10' }, { references: ['ped-10'] }],
  ['extra', { extra: 'ped-11' }, { extra: 'ped-11' }],
  ['document', { document: '11144477735' }, { document: '11144477735' }],
])(
  'many orders of one merchant make a %s common among its own alone, neither for another nor for us',
  async (kind, paid, named) => {
    const wanted = { ...named, amount: '7.70' };
    await payOne(env.context, { platform: 'beta', amount: '7.70', ...paid });
    const facts = { ...FACTS, ...wanted, source: 'all' };
    const many = Array.from({ length: 201 }, (_, row) => ({ ...facts, number: `${kind}-${row}` }));
    await all?.call('POST', '', { expected_payments: many });
    expect(await beta?.put(kind, wanted)).toMatchObject({ state: 'paid', candidates: [] });
    expect(await all?.read(`${kind}-200`)).toMatchObject(NOTHING);
    await beta?.put(kind, FACTS);
    const ours = await expectOne(env.context, wanted);
    await decideAll(env.context);
    expect((await env.call('GET', `/expected-payments/${ours}`)).json).toMatchObject({ state: 'paid' });
  },
);

it('a dispute with an order of another source is counted, without showing it; an equal reference alone is not', async () => {
  const wanted = { references: ['ped-2001'] };
  await alpha?.put('2001', wanted);
  await all?.put('77', wanted);
  expect(await alpha?.read('2001')).toMatchObject({ disputed: false, competing: [], competing_elsewhere: 0 });
  await payOne(env.context, { platform: 'alpha', reference: 'ped-2001', amount: '1.00' });
  const shown = await alpha?.read('2001');
  expect(shown).toMatchObject({ disputed: true, paid: '0.00', competing: [], competing_elsewhere: 1 });
  expect(JSON.stringify(shown)).not.toMatch(/"77"|"all"/);
  expect(await all?.read('77')).toMatchObject({ disputed: true, competing: [], competing_elsewhere: 1 });
  await all?.call('DELETE', '77');
  expect(await alpha?.read('2001')).toMatchObject({ state: 'paid', competing_elsewhere: 0 });
});

it('a merchant lists no orders by payments that it may not see', async () => {
  const due = { due_day: '2026-12-24', amount: '61.00' };
  await beta?.put('a-1', { ...due, references: ['a-1'] });
  await alpha?.put('a-1', { ...due, references: ['a-1'] });
  const state = env.context.db.updateTable('expected_payments').set({ state: 'unpaid' });
  await state.where('number', '=', 'a-1').execute();
  const list = async (merchant: typeof beta, filter: string): Promise<string[]> => {
    const { expected_payments: found } = { ...(await merchant?.call('GET', `?${filter}=true&due_from=2026-12-24`)) };
    return (found as { source: string }[]).map(({ source }) => source);
  };
  await payOne(env.context, { platform: 'alpha', reference: 'a-none', amount: '61.00' });
  expect([await list(beta, 'alike'), await list(beta, 'chargeable')]).toEqual([[], ['beta']]);
  expect([await list(alpha, 'alike'), await list(alpha, 'chargeable')]).toEqual([['alpha'], []]);
  // SQL does not compare keys of extra
  const keyed = { platforms: ['beta'], expected: true, extra_match: { shop: 'b' } };
  await updateMerchant(env.context, beta?.id ?? '', { filter: keyed });
  expect(await beta?.call('GET', '?alike=true')).toMatchObject({ status: 403, reason: 'filter_of_operators' });
});
