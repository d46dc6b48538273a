import { beforeAll, expect, test } from 'vitest';
import { openMerchantSession } from '../../../src/access/sessions.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { createMerchant, updateMerchant } from '../../../src/merchants/change-merchants.ts';
import type { FilterInput } from '../../../src/merchants/match-filter.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { payOne } from '../../support/expect-orders.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';

const [CENTRE, BEACH, OTHER] = ['1', '2', '3'].map((n) => `${n.repeat(8)}-1111-4111-8111-111111111111`) as [
  string,
  string,
  string,
];
const SOURCE = 'erp';

const env = closeAfterAll(await openConsoleEnvironment());
let merchant: string;
let cookie: string;

beforeAll(async () => {
  const { context } = env;
  const made = await createMerchant(context, {
    ...{ name: 'Ana', url: null, eventsSince: new Date('2020-01-01T00:00:00Z') },
    filter: { platforms: [CENTRE, BEACH] },
  });
  merchant = made.merchant.id;
  const named = { name: 'Ana', role: 'merchant', merchant, sources: [SOURCE] } as const;
  const { token } = await createToken(context, { ...named, sources: [SOURCE] });
  cookie = `confere_portal=${await openMerchantSession(context, token)}`;
  for (const [platform, name] of [
    [CENTRE, 'Loja Centro'],
    [BEACH, 'Loja Praia'],
    [OTHER, 'Loja Alheia'],
  ] as const) {
    await payOne(context, { platform, reference: `r-${platform}`, amount: '10.00' });
    await setPlatformName(context, { platform, name, actor: 'admin' });
  }
});

async function show(address: string): Promise<string> {
  await env.timers.advance(1_000);
  return await (await fetch(`${env.url}${address}`, { headers: { cookie } })).text();
}

const filterBy = (filter: FilterInput) => updateMerchant(env.context, merchant, { filter });

test('the portal names the platforms that operators let the merchant receive, and no other', async () => {
  const facts = (platform: string) =>
    expectedFactsSchema.parse({ operation: 'cashin', amount: '10.00', due_day: env.today, platform });
  const arrivals = [CENTRE, OTHER].map((platform) => ({ source: SOURCE, number: platform, facts: facts(platform) }));
  const [own, other] = await putExpected(env.context, { arrivals, actor: 'test' });
  expect(await show('/portal/orders')).toMatch(/<b>Loja Centro<\/b>/);
  expect(await show(`/portal/orders/${own?.id}`)).toContain(`<b>Loja Centro</b> <span class="id">${CENTRE}</span>`);
  // the merchant typed this id: it learns no name by it
  expect(await show(`/portal/orders/${other?.id}`)).toContain(`<span class="id">${OTHER}</span>`);
  const form = await show('/portal/filter');
  expect(form).toMatch(/value="11111111-1111-[^>]*> <span>Loja Centro · 11111111…</);
  expect(form).toContain('Loja Praia');
  const callbacks = await show('/portal/callbacks');
  expect(callbacks).toContain(' · Loja Centro</span>');
  const id = /href="(\/portal\/callbacks\/msg_[^"]*)"/.exec(callbacks)?.[1] ?? '';
  expect(await show(id)).toMatch(/Plataforma<[\s\S]*?<b>Loja (Centro|Praia)<\/b>/);
  expect(await show('/portal')).toContain('plataformas: Loja Centro · 11111111…, Loja Praia · 22222222…');
  await filterBy({ platforms: [BEACH] });
  const pages = ['/portal', '/portal/filter', '/portal/history', '/portal/callbacks', '/portal/orders', id];
  const shown = (await Promise.all(pages.map(show))).join('');
  expect(shown).toContain('Loja Praia');
  expect(shown).not.toMatch(/Loja (Centro|Alheia)/);
});

test('a filter without platforms names all where it takes everything, and none where other texts decide', async () => {
  await filterBy({ operations: ['cashin'] });
  expect(await show('/portal/filter')).toContain('Loja Alheia');
  await filterBy({ reference_prefixes: ['r-'] });
  expect(await show('/portal/filter')).not.toContain('Loja ');
});
