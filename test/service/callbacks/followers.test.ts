import { expect, test } from 'vitest';
import { claimCallbacks } from '../../../src/callbacks/claim-callbacks.ts';
import type { ClaimedCallback } from '../../../src/callbacks/claimed-callback.ts';
import { readDeliveryMerchants } from '../../../src/callbacks/read-delivery-merchants.ts';
import { openShop } from './shop.ts';
import { openWorld, until, type World } from './world.ts';

const HISTORY = ['pending', 'in_process', 'paid'];

async function claim(world: World): Promise<ClaimedCallback[]> {
  const merchants = await readDeliveryMerchants(world.context);
  const wants = merchants.map((merchant) => ({ merchant, places: 10 }));
  return (await claimCallbacks(world.context, wants, new Set())).claimed;
}

const sequences = (claimed: ClaimedCallback[]): number[][] =>
  claimed.map((one) => [one, ...one.followers].map(({ sequence }) => sequence));

test('a history that was learnt at once is claimed at once, for each merchant its own', async () => {
  await using world = await openWorld();
  await world.addMerchant('http://127.0.0.1:1/a');
  await world.addMerchant('http://127.0.0.1:1/b');
  await world.pay(HISTORY);
  await world.pay(['paid']);
  expect(sequences(await claim(world)).sort((a, b) => a.length - b.length)).toEqual([[1], [1], [1, 2, 3], [1, 2, 3]]);
  // nothing is left to claim: all of it is leased
  expect(await claim(world)).toEqual([]);
});

test('of a merchant with a rate each is claimed by itself', async () => {
  await using world = await openWorld();
  await world.addMerchant('http://127.0.0.1:1/', { rate: 1 });
  await world.pay(HISTORY);
  expect(sequences(await claim(world))).toEqual([[1]]);
});

test('none follows that another process holds, that failed before, or that comes after such a one', async () => {
  await using world = await openWorld();
  await world.addMerchant('http://127.0.0.1:1/');
  await world.pay(HISTORY);
  const { db, clock } = world.context;
  const until = new Date(clock.now().getTime() + 60_000);
  const second = db.updateTable('callbacks').where('sequence', '=', 2);
  await second.set({ lease_holder: 'another', lease_until: until, next_attempt_at: until }).execute();
  expect(sequences(await claim(world))).toEqual([[1]]);
  const due = { lease_holder: null, lease_until: null, next_attempt_at: clock.now() };
  await db.updateTable('callbacks').set(due).where('sequence', '=', 1).execute();
  await second.set({ lease_holder: null, lease_until: null, first_failed_at: clock.now() }).execute();
  expect(sequences(await claim(world))).toEqual([[1]]);
});

test('what follows one that fails is given back, waits for it, and goes out after it', async () => {
  await using world = await openWorld();
  await using shop = await openShop();
  shop.behave['/a'] = (_call, nth) => (nth === 1 ? 500 : 200);
  await world.addMerchant(`${shop.url}/a`);
  await world.pay(HISTORY);
  await world.deliver();
  await until('the first has failed', () => shop.calls.length > 0);
  await until('the others are given back', async () => {
    const rows = await world.context.db
      .selectFrom('callbacks')
      .select('lease_holder')
      .where('sequence', '>', 1)
      .execute();
    return rows.length === 2 && rows.every((row) => row.lease_holder === null);
  });
  await until('all delivered', () => shop.taken('/a').length === 3);
  expect(shop.calls.map((call) => call.json.data.transaction.sequence)).toEqual([1, 1, 2, 3]);
});
