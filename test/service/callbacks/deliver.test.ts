import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { expect, test } from 'vitest';
import { callbackBodySchema } from '../../../src/callbacks/event-schema.ts';
import { openShop } from './shop.ts';
import { openWorld, until } from './world.ts';

test('an event reaches the merchant once, signed so that two other libraries accept it', async () => {
  await using world = await openWorld();
  await using shop = await openShop();
  const { secret } = await world.addMerchant(`${shop.url}/a`);
  await world.deliver();
  const paid = await world.pay(['pending', 'paid']);
  await until('both callbacks', () => shop.at('/a').length === 2);
  const [first, second] = shop.at('/a');
  expect([first?.json.type, second?.json.type]).toEqual(['pix.cashin.pending', 'pix.cashin.paid']);
  expect(second?.json.data).toMatchObject({
    previous_status: 'pending',
    source: 'webhook',
    transaction: { id: paid.id, status: 'paid', sequence: 2, current_status: 'paid', amount: '123.45' },
  });
  for (const call of shop.at('/a')) {
    // nothing that the schema for merchants does not name, and nothing missing
    expect(callbackBodySchema.parse(call.json)).toEqual(call.json);
    expect(new Webhook(secret).verify(call.body, call.headers)).toEqual(call.json);
    expect(() => new SvixWebhook(secret).verify(call.body, call.headers)).not.toThrow();
  }
  const rows = await until('both recorded', async () => {
    const found = await world.context.db.selectFrom('callbacks').selectAll().execute();
    return found.every((row) => row.state === 'delivered') ? found : undefined;
  });
  expect(rows.map((row) => row.attempts)).toEqual([1, 1]);
});

test('a callback that fails is tried again under the same id, and newer ones of its payment wait for it', async () => {
  await using world = await openWorld();
  await using shop = await openShop();
  const tries = new Map<string, number>();
  shop.behave['/b'] = ({ headers }) => {
    const id = headers['webhook-id'] ?? '';
    tries.set(id, (tries.get(id) ?? 0) + 1);
    return (tries.get(id) ?? 0) <= 2 ? 500 : 200;
  };
  await world.addMerchant(`${shop.url}/b`);
  await world.deliver();
  const payments = await Promise.all(Array.from({ length: 5 }, () => world.pay(['pending'])));
  await Promise.all(payments.map((paid) => world.change(paid, ['paid', 'refund'])));
  await until('all delivered', () => shop.taken('/b').length === 15);
  for (const paid of payments) {
    const calls = shop.at('/b').filter((call) => call.json.data.transaction.id === paid.id);
    expect(calls.map((call) => call.json.data.transaction.sequence)).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3]);
    expect(new Set(calls.map((call) => call.headers['webhook-id'])).size).toBe(3);
  }
});

test('a merchant that hangs and one that is dead delay nobody', async () => {
  await using world = await openWorld();
  await using shop = await openShop();
  shop.behave['/hangs'] = () => 'hangs';
  await world.addMerchant(`${shop.url}/hangs`);
  await world.addMerchant('http://127.0.0.1:1/');
  await world.addMerchant(`${shop.url}/a`);
  await world.deliver();
  for (let i = 0; i < 100; i++) await world.pay(['paid']);
  await until('all of the well merchant', () => shop.taken('/a').length === 100);
  expect(shop.at('/hangs').length).toBeLessThanOrEqual(32);
});
