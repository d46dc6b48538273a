import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type CashinRequest, createProviderClient } from '../../../src/provider/client.ts';
import { readList } from '../../../src/provider/list/read-list.ts';
import { dayAgo, PLATFORM } from '../../support/make-provider-rows.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';

const CHARGE: Omit<CashinRequest, 'reference'> = {
  name: 'Conceição Figueirôa',
  email: 'c@exemplo.com.br',
  phone: '+5511987654321',
  description: 'Pedido 1',
  document: '52998224725',
  amountCents: 12_345n,
  platform: PLATFORM,
};

test('all four endpoints of the real sandbox: create both kinds, show them, list and filter them', async () => {
  await using sandbox = await startTestSandbox(['--history', '3', '--per-day', '130']);
  const stop = new AbortController();
  await using client = createProviderClient({ url: sandbox.url, apiKey: API_KEY, signal: stop.signal });

  const cashin = await client.createCashin({ ...CHARGE, reference: 'ord-in', extra: 'cart:1' });
  const pixKey = randomUUID();
  const cashout = await client.createCashout({ ...CHARGE, reference: 'ord-out', pixKey, keyType: 'EVP' });
  if (!cashin.ok || !cashout.ok) throw new Error('what was created could not be read');
  expect(cashin.transaction).toMatchObject({
    operation: 'cashin',
    status: 'pending',
    amountCents: 12_345n,
    reference: 'ord-in',
    extra: 'cart:1',
    events: [{ status: 'pending', atWall: cashin.transaction.createdWall }],
  });
  expect(cashout.transaction).toMatchObject({ operation: 'cashout', pixKey, amountCents: 12_345n });

  const shown = await client.show(cashin.transaction.id);
  expect(shown?.ok && shown.transaction).toMatchObject({ id: cashin.transaction.id, name: CHARGE.name });
  expect(await client.show(randomUUID())).toBeUndefined();

  const found = await client.listPage({ reference: 'ord-out' }, 1);
  expect(found?.rows.map((row) => row.ok && row.transaction.id)).toEqual([cashout.transaction.id]);
  await expect(client.createCashin({ ...CHARGE, reference: 'ord-in' })).rejects.toMatchObject({
    code: 'provider_rejected',
    providerCode: 25,
  });
  await expect(client.createCashin({ ...CHARGE, reference: 'bad', document: '1' })).rejects.toMatchObject({
    status: 422,
  });

  const day = dayAgo(2);
  const options = { now: () => new Date(), growsSince: () => undefined };
  const pages = readList(client, { initialDate: day, finalDate: day }, options);
  let page = await pages.next();
  for (; !page.done; page = await pages.next()) expect(page.value.rows.every((row) => row.ok)).toBe(true);
  const reading = page.value;
  expect(reading).toMatchObject({ complete: true, passes: 1 });
  expect(reading.seenRows.size).toBeGreaterThan(100);

  await using stranger = createProviderClient({ url: sandbox.url, apiKey: 'another key', signal: stop.signal });
  await expect(stranger.listPage({}, 1)).rejects.toMatchObject({ code: 'provider_unauthorized' });
});
