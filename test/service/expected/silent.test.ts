/** Orders whose changes send no messages: the list finds those that each answer marks, by every filter that a merchant may have. */
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { openMerchantSession } from '../../../src/access/sessions.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { isSilent } from '../../../src/expected/read/find-silent.ts';
import type { PresentedExpected } from '../../../src/expected/read/list-expected.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { completeFilter, type FilterInput } from '../../../src/merchants/match-filter.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { propertyOptions } from '../../support/property.ts';

const env = closeAfterAll(await openConsoleEnvironment());
const ORDERS: Record<string, object> = {
  bare: {},
  'p-plain': { platform: 'p' },
  'q-plain': { platform: 'q', references: ['p-1', 'z'] },
  out: { platform: 'p', operation: 'cashout', references: ['P-1'] },
  extra: { platform: 'p', extra: '{"a":1}' },
};
let token: string;

beforeAll(async () => {
  const made = { name: 'ana', url: 'http://127.0.0.1:9/', eventsSince: new Date(0) };
  const { merchant } = await createMerchant(env.context, { ...made, filter: { expected: true } });
  const own = { name: 'ana', role: 'merchant', merchant: merchant.id, sources: ['ana'] } as const;
  ({ token } = await createToken(env.context, { ...own, sources: ['ana'] }));
  for (const [number, more] of Object.entries(ORDERS)) await ask('PUT', `/ana/${number}`, more);
});

async function ask(method: string, path: string, more?: object) {
  const facts = { operation: 'cashin', amount: '10.00', due_day: env.today, ...more };
  const response = await fetch(`${env.url}/api/v1/expected-payments${path}`, {
    ...{ method, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } },
    ...(more && { body: JSON.stringify(facts) }),
  });
  await env.timers.advance(1_000);
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const filterBy = (filter: FilterInput, own?: FilterInput) =>
  env.context.db
    .updateTable('merchants')
    .set({
      filter: JSON.stringify(completeFilter({ expected: true, ...filter })),
      own_filter: own ? JSON.stringify(completeFilter(own)) : null,
    })
    .execute();

it.each<[string[], FilterInput, FilterInput?]>([
  [[], {}],
  [['bare', 'q-plain'], { platforms: ['p'] }],
  [['q-plain'], { platforms: ['p', 'none'], statuses: ['paid'] }],
  [['bare', 'out', 'q-plain'], { platforms: ['p'] }, { operations: ['cashin'] }],
  [['bare', 'extra', 'out'], { reference_prefixes: ['p-'] }],
  [['bare', 'out', 'p-plain', 'q-plain'], { extra_prefixes: ['{"a"', 'x'] }],
  [Object.keys(ORDERS).toSorted(), { expected: false }],
])('silent: %j by the filter %j, %j', async (silent, filter, own) => {
  await filterBy(filter, own);
  const { json } = await ask('GET', '?silent=true');
  expect((json.expected_payments as { number: string }[]).map(({ number }) => number).toSorted()).toEqual(silent);
  for (const number of Object.keys(ORDERS)) {
    const one = (await ask('GET', `/ana/${number}`)).json;
    expect([number, 'silent' in one, one.silent ?? false]).toEqual([
      number,
      silent.includes(number),
      silent.includes(number),
    ]);
  }
});

it('an answer to PUT says it, only then; where keys of extra decide, an order still says it, and the list refuses', async () => {
  await filterBy({ platforms: ['p'] });
  expect((await ask('PUT', '/ana/bare', ORDERS.bare)).json.silent).toBe(true);
  expect((await ask('PUT', '/ana/p-plain', ORDERS['p-plain'])).json).not.toHaveProperty('silent');
  await filterBy({ extra_match: { a: 1 } });
  expect((await ask('GET', '/ana/bare')).json.silent).toBe(true);
  expect((await ask('GET', '/ana/extra')).json).not.toHaveProperty('silent');
  expect((await ask('GET', '?silent=true')).status).toBe(403);
});

it('the portal links to them, and operators find those that send nobody any', async () => {
  await filterBy({ platforms: ['p'] });
  const cookie = `confere_portal=${await openMerchantSession(env.context, token)}`;
  const show = async (address: string) => {
    await env.timers.advance(1_000);
    return await (await fetch(`${env.url}${address}`, { headers: { cookie } })).text();
  };
  expect(await show('/portal/orders')).toContain('href="/portal/orders?silent=true"');
  const found = await show('/portal/orders?silent=true');
  expect([found.includes('>bare<'), found.includes('>p-plain<')]).toEqual([true, false]);
  const { json } = await env.api<{ expected_payments: { number: string }[] }>(
    'operator',
    'GET',
    '/expected-payments?silent=true&source=ana',
  );
  expect(json.expected_payments.map(({ number }) => number).toSorted()).toEqual(['bare', 'q-plain']);
});

it('the list finds what the filters refuse, for any of them', async () => {
  const texts = ['p-1', 'P-1', 'é-1', '%', '_', '\\', '{"a"', '🎈1', 'none'];
  for (const [at, text] of texts.entries()) {
    const more = { platform: ['p', 'é', '_'][at % 3], references: [`${text}-ref`], extra: `${text}"` };
    await ask('PUT', `/ana/${encodeURIComponent(`${text}-${at}`)}`, at % 4 === 0 ? {} : more);
  }
  const { json } = await ask('GET', '?limit=200');
  const orders = json.expected_payments as PresentedExpected[];
  expect(orders.length).toBe(Object.keys(ORDERS).length + texts.length);
  const some = (pool: string[]) => fc.uniqueArray(fc.constantFrom(...pool), { maxLength: 2 });
  const filter = fc.record({
    platforms: some(['p', 'é', '_', 'none', 'P']),
    operations: some(['cashin', 'cashout']) as fc.Arbitrary<('cashin' | 'cashout')[]>,
    reference_prefixes: some([...texts, 'z']),
    extra_prefixes: some(texts),
  });
  await fc.assert(
    fc.asyncProperty(filter, fc.option(filter, { nil: undefined }), async (given, own) => {
      await filterBy(given, own);
      const filters = [completeFilter({ expected: true, ...given }), ...(own ? [completeFilter(own)] : [])];
      const found = (await ask('GET', '?silent=true&limit=200')).json.expected_payments as PresentedExpected[];
      expect(found.map(({ id }) => id)).toEqual(orders.filter((one) => isSilent(filters, one)).map(({ id }) => id));
    }),
    propertyOptions(40, 1_000),
  );
});
