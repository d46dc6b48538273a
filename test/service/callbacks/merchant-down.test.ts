import { expect, test } from 'vitest';
import type { MerchantTrouble } from '../../../src/callbacks/deliver.ts';
import { setMerchantState } from '../../../src/merchants/change-merchants.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/callbacks.ts';
import { openShop } from '../../support/merchant-server.ts';
import { eventually } from '../../support/wait.ts';

const HOUR_MS = 3_600_000;

async function statesOf(world: CallbackEnvironment): Promise<string[]> {
  const rows = await world.context.db.selectFrom('callbacks').select('state').orderBy('seq').execute();
  return rows.map((row) => row.state);
}

function ago(world: CallbackEnvironment, ms: number): Date {
  return new Date(world.context.clock.now().getTime() - ms);
}

test('410 disables a merchant: nothing more is sent, what comes is held, and enabling it delivers all in order', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openShop();
  shop.behave['/gone'] = () => 410;
  const { merchant } = await world.addMerchant(`${shop.url}/gone`);
  const troubles: MerchantTrouble[] = [];
  const recovered: string[] = [];
  await world.deliver({
    onTrouble: (trouble) => void troubles.push(trouble),
    onRecovery: (id) => void recovered.push(id),
  });
  await world.pay(['pending', 'paid']);
  await eventually('disabled', async () => (await findMerchant(world.context.db, merchant.id)).state === 'disabled');
  await world.pay(['paid']);
  await eventually('all held', async () => (await statesOf(world)).every((state) => state === 'held'));
  expect(shop.at('/gone')).toHaveLength(1);
  await eventually('told', () => troubles.length === 1);
  expect(troubles[0]).toMatchObject({ kind: 'merchant_disabled', merchantId: merchant.id });
  shop.behave['/gone'] = () => 200;
  await setMerchantState(world.context, merchant.id, 'enabled');
  await eventually('all delivered', async () => (await statesOf(world)).every((state) => state === 'delivered'));
  expect(shop.taken('/gone').map((call) => call.json.type)).toEqual(
    expect.arrayContaining(['pix.cashin.pending', 'pix.cashin.paid', 'pix.cashin.paid']),
  );
  expect(shop.taken('/gone')).toHaveLength(3);
  await eventually('told that it is well again', () => recovered.length > 0);
  expect([recovered, troubles.length]).toEqual([[merchant.id], 1]);
});

test('a paused merchant is told nothing until it is enabled, and then everything', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openShop();
  const { merchant } = await world.addMerchant(`${shop.url}/a`);
  await world.addMerchant(`${shop.url}/other`);
  await world.deliver();
  await setMerchantState(world.context, merchant.id, 'paused');
  for (let i = 0; i < 40; i++) await world.pay(['pending', 'paid']);
  await eventually('the other has all', () => shop.taken('/other').length === 80);
  expect(shop.at('/a')).toHaveLength(0);
  await setMerchantState(world.context, merchant.id, 'enabled');
  await eventually('all drained', () => shop.taken('/a').length === 80);
  const sequences = Map.groupBy(shop.taken('/a'), (call) => call.json.data.transaction.id);
  for (const calls of sequences.values()) expect(calls.map((c) => c.json.data.transaction.sequence)).toEqual([1, 2]);
});

test('an open breaker holds callbacks; one probe is sent, and its success lets all go', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openShop();
  let well = false;
  shop.behave['/a'] = () => (well ? 200 : 500);
  const { merchant } = await world.addMerchant(`${shop.url}/a`);
  const nearly = { failures: 9, failing_since: ago(world, 6 * 60_000) };
  await world.context.db.updateTable('merchants').set(nearly).execute();
  await world.deliver();
  for (let i = 0; i < 20; i++) await world.pay(['paid']);
  await eventually('the breaker', async () => (await findMerchant(world.context.db, merchant.id)).breaker_opened_at);
  await eventually('all held', async () => (await statesOf(world)).every((state) => state === 'held'));
  const before = shop.calls.length;
  await world.pay(['paid']);
  expect(await statesOf(world)).toEqual(Array.from({ length: 21 }, () => 'held'));
  const probe = async (): Promise<void> => {
    await world.context.db
      .updateTable('merchants')
      .set({ probe_at: ago(world, 1) })
      .execute();
    world.context.bells.callbacks.ring();
  };
  await probe();
  await eventually('a probe', () => shop.calls.length === before + 1);
  await eventually('held again', async () => (await statesOf(world)).every((state) => state === 'held'));
  well = true;
  await probe();
  await eventually('all delivered', async () => (await statesOf(world)).every((state) => state === 'delivered'));
  expect(await findMerchant(world.context.db, merchant.id)).toMatchObject({ failures: 0, failing_since: null });
});

test('a day without a success is told once, and five days disable', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openShop();
  shop.behave['/a'] = () => 503;
  const { merchant } = await world.addMerchant(`${shop.url}/a`);
  await world.context.db
    .updateTable('merchants')
    .set({ failing_since: ago(world, 25 * HOUR_MS) })
    .execute();
  const troubles: MerchantTrouble[] = [];
  await world.deliver({ onTrouble: (trouble) => void troubles.push(trouble) });
  await world.pay(['paid']);
  await eventually('two attempts', () => shop.calls.length === 2);
  await eventually('told', () => troubles.length > 0);
  expect(troubles.map(({ kind }) => kind)).toEqual(['merchant_failing']);
  await world.context.db
    .updateTable('merchants')
    .set({ failing_since: ago(world, 121 * HOUR_MS) })
    .execute();
  await eventually('disabled', async () => (await findMerchant(world.context.db, merchant.id)).state === 'disabled');
  await eventually('told of that too', () => troubles.length === 2);
  expect(troubles[1]?.kind).toBe('merchant_disabled');
  await eventually('held', async () => (await statesOf(world)).every((state) => state === 'held'));
});

test('a callback that outlives its schedule is held while its merchant takes nothing, and failed where it takes others', async () => {
  await using world = await openCallbackEnvironment({ CALLBACK_RETRY_SCHEDULE: '1s' });
  await using shop = await openShop();
  shop.behave['/down'] = () => 500;
  shop.behave['/choosy'] = ({ json }) => (json.data.transaction.status === 'denied' ? 422 : 200);
  await world.addMerchant(`${shop.url}/down`);
  await world.addMerchant(`${shop.url}/choosy`);
  await world.deliver();
  await world.pay(['denied']);
  await eventually('the first tries', () => shop.calls.length >= 2);
  await world.pay(['paid']);
  await eventually('the end of it', async () => (await statesOf(world)).every((state) => state !== 'pending'));
  expect(await statesOf(world)).toEqual(['held', 'failed', 'held', 'delivered']);
});

test('a newer event is tried too once the older one has failed for 15 minutes', async () => {
  await using world = await openCallbackEnvironment({ CALLBACK_RETRY_SCHEDULE: '1h,1h' });
  await using shop = await openShop();
  shop.behave['/a'] = ({ json }) => (json.data.transaction.status === 'pending' ? 500 : 200);
  await world.addMerchant(`${shop.url}/a`);
  await world.deliver();
  const paid = await world.pay(['pending']);
  await eventually('the first try', async () => {
    const row = await world.context.db.selectFrom('callbacks').select('first_failed_at').executeTakeFirst();
    return row?.first_failed_at;
  });
  await world.change(paid, ['paid']);
  const put = await eventually('put off', async () => {
    const rows = await world.context.db.selectFrom('callbacks').selectAll().orderBy('seq').execute();
    const [older, newer] = rows;
    const until15 = (older?.first_failed_at?.getTime() ?? 0) + 15 * 60_000;
    return newer?.next_attempt_at?.getTime() === until15 ? newer : undefined;
  });
  expect(shop.taken('/a')).toHaveLength(0);
  await world.context.db
    .updateTable('callbacks')
    .set({ first_failed_at: ago(world, 15 * 60_000) })
    .where('seq', '<', put.seq)
    .execute();
  const now = world.context.clock.now();
  await world.context.db.updateTable('callbacks').set({ next_attempt_at: now }).where('seq', '=', put.seq).execute();
  await eventually('the newer one', () => shop.taken('/a').length === 1);
});
