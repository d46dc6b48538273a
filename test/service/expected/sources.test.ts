/** Merchants' tokens that read and write the expected payments of their sources. */
import { beforeAll, expect, it } from 'vitest';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { authorizeSearch, VIEWER_DOCUMENTS_AN_HOUR_MAX } from '../../../src/operations/authorize-search.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openApiEnvironment } from '../../support/open-api-environment.ts';

const FACTS = { operation: 'cashin', amount: '10.00', due_day: '2026-11-20', name: 'Maria da Silva' };
const environment = closeAfterAll(await openApiEnvironment());
let merchant = '';
let token = '';
beforeAll(async () => {
  merchant = (await createMerchant(environment.context, { name: 'shop', url: 'http://127.0.0.1:9/' })).merchant.id;
  const facts = expectedFactsSchema.parse(FACTS);
  const arrivals = ['mine', 'other'].map((source) => ({ source, number: 'a-1', facts }));
  await putExpected(environment.context, { arrivals, actor: 'test' });
  const made = await asAdmin('POST', '/tokens', {
    role: 'merchant',
    merchant,
    name: 'ERP',
    sources: ['mine', 'mine.2'],
  });
  expect(made).toMatchObject({ status: 201, json: { role: 'merchant', merchant, sources: ['mine', 'mine.2'] } });
  token = String(made.json.token);
});

const asAdmin = (method: 'GET' | 'POST', address: string, body?: unknown) => environment.call(method, address, body);
const call = async (method: string, address: string, body?: unknown, as = token) => {
  // at most 10 in a second
  await environment.timers.advance(200);
  return await callApi({ url: environment.url, token: as }, method, `/expected-payments${address}`, body);
};
const NOT_YOURS = {
  status: 403,
  json: {
    reason: 'source_not_yours',
    detail: expect.stringContaining('this token was given other sources: mine, mine.2'),
  },
};

it('a merchant’s token writes and reads the sources that an admin gave it, with its own persons in full', async () => {
  expect(await call('PUT', '/mine/b-1', FACTS)).toMatchObject({ status: 201, json: { name: 'Maria da Silva' } });
  expect(await call('PUT', '/mine.2/b-1', FACTS)).toMatchObject({ status: 201 });
  const id = String((await call('GET', '/mine/b-1')).json.id);
  expect(await call('DELETE', '/mine/b-1')).toMatchObject({ status: 200, json: { id } });
  expect(await call('POST', `/${id}/reopen`, { note: 'engano' })).toMatchObject({ status: 200 });
  const listed = (await call('GET', '')).json.expected_payments as { source: string; name: string }[];
  expect(listed.map(({ source }) => source).sort()).toEqual(['mine', 'mine', 'mine.2']);
  expect(listed[0]?.name).toBe('Maria da Silva');
  const csv = await call('GET', '.csv');
  expect([csv.status, csv.text.trim().split('\r\n').length]).toEqual([200, 4]);
  const audited = (await asAdmin('GET', '/audit')).json.audit as {
    actor_name: string;
    action: string;
    target: string;
  }[];
  expect(audited.filter((row) => row.actor_name === 'ERP').map(({ action }) => action)).toEqual(
    expect.arrayContaining(['expected.put', 'expected.cancel', 'expected.reopen', 'expected.list', 'expected.show']),
  );
});

it('a merchant’s system asks for its own orders as often as it likes: it sees their persons anyway', async () => {
  const caller = { id: 'tok_erp', role: 'viewer' as const, sources: ['mine'] };
  for (let asked = 0; asked <= VIEWER_DOCUMENTS_AN_HOUR_MAX; asked++)
    await authorizeSearch(environment.context, caller, { number: `2026${asked}000`, reference: `2026${asked}000` });
});

it('other sources are refused by 403, also in one row of many', async () => {
  const [{ id }] = (await asAdmin('GET', '/expected-payments?source=other')).json.expected_payments as [{ id: string }];
  for (const [method, address, body] of [
    ['PUT', '/other/a-1', FACTS],
    ['DELETE', '/other/a-1', undefined],
    ['GET', '/other/a-1', undefined],
    ['GET', '/other/unknown', undefined],
    ['GET', `/${id}`, undefined],
    ['POST', `/${id}/reopen`, { note: 'x' }],
    ['GET', '?source=other', undefined],
    ['GET', '.csv?source=other', undefined],
  ] as const)
    expect([address, await call(method, address, body)]).toMatchObject([address, NOT_YOURS]);
  const rows = ['mine', 'other'].map((source) => ({ ...FACTS, source, number: 'c-1' }));
  expect((await call('POST', '', { expected_payments: rows })).json.results).toMatchObject([
    { status: 201, reason: null },
    { status: 403, reason: 'source_not_yours', id: null },
  ]);
  expect((await asAdmin('GET', '/expected-payments?source=other')).json.expected_payments).toHaveLength(1);
});

it('the token matches nothing, opens no other route, and has sources only with the role merchant', async () => {
  const id = String((await call('GET', '/mine/a-1')).json.id);
  const match = { transaction_id: 'x', note: 'x' };
  expect(await call('POST', `/${id}/match`, match)).toMatchObject({ status: 403, json: { reason: 'role_missing' } });
  const elsewhere = await callApi({ url: environment.url, token }, 'GET', '/transactions');
  expect(elsewhere).toMatchObject({ status: 403, json: { reason: 'merchant_token_elsewhere' } });
  const plain = String((await asAdmin('POST', '/tokens', { role: 'merchant', merchant })).json.token);
  expect(await call('GET', '', undefined, plain)).toMatchObject({
    status: 403,
    json: { reason: 'merchant_token_elsewhere' },
  });
  for (const more of [
    { role: 'viewer', sources: ['mine'] },
    { role: 'merchant', merchant, sources: ['Mine'] },
    { role: 'merchant', merchant, sources: ['nfe'] },
  ])
    expect(await asAdmin('POST', '/tokens', more)).toMatchObject({ status: 422 });
  const tokens = (await asAdmin('GET', '/tokens')).json.tokens as { sources: string[] }[];
  expect(tokens.map(({ sources }) => sources)).toContainEqual(['mine', 'mine.2']);
});
