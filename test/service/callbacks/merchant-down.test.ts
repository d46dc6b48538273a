import { expect, test } from 'vitest';
import type { MerchantOutage } from '../../../src/callbacks/deliver/deliver.ts';
import { PROBE_EVERY_MS } from '../../../src/callbacks/health/merchant-health.ts';
import { setMerchantState } from '../../../src/merchants/change-merchants.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type Behaviour, openMerchantServer } from '../../support/open-merchant-server.ts';

const HOUR_MS = 3_600_000;

async function statesOf(world: CallbackEnvironment): Promise<string[]> {
  const rows = await world.context.db.selectFrom('callbacks').select('state').orderBy('seq').execute();
  return rows.map((row) => row.state);
}

type Ended = { id: string; sequence: number };

/** Answers 200, to older events later: whatever was sent together ends in the wrong order. */
function endInReverse(ended: Ended[]): Behaviour {
  return ({ json }) => {
    const { id, sequence } = json.data.transaction;
    return (_request, response) =>
      void setTimeout(() => {
        ended.push({ id, sequence });
        response.writeHead(200).end();
      }, 40 / sequence);
  };
}

/** Of each payment, the sequences in the order in which they were taken. */
function sequencesOf(ended: Ended[]): Record<string, number[]> {
  const byPayment = Map.groupBy(ended, ({ id }) => id);
  return Object.fromEntries([...byPayment].map(([id, taken]) => [id, taken.map(({ sequence }) => sequence)]));
}

function ago(world: CallbackEnvironment, ms: number): Date {
  return new Date(world.context.clock.now().getTime() - ms);
}

test('410 disables a merchant: nothing more is sent, what comes is held, and enabling it delivers all in order', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  shop.behaviours['/gone'] = () => 410;
  const { merchant } = await world.addMerchant(`${shop.url}/gone`);
  const troubles: MerchantOutage[] = [];
  const recovered: string[] = [];
  await world.deliver({
    onOutage: (trouble) => void troubles.push(trouble),
    onRecovery: (id) => void recovered.push(id),
  });
  const first = await world.applyTransaction(['pending', 'in_process', 'paid']);
  await world.advanceUntil(
    'disabled',
    async () => (await findMerchant(world.context.db, merchant.id)).state === 'disabled',
  );
  const second = await world.applyTransaction(['paid']);
  await world.advanceUntil('all held', async () => (await statesOf(world)).every((state) => state === 'held'));
  expect(shop.callsTo('/gone')).toHaveLength(1);
  await world.advanceUntil('told', () => troubles.length === 1);
  expect(troubles[0]).toMatchObject({ kind: 'merchant_disabled', merchantId: merchant.id });
  const ended: Ended[] = [];
  shop.behaviours['/gone'] = endInReverse(ended);
  await setMerchantState(world.context, merchant.id, 'enabled');
  await world.advanceUntil('all delivered', async () =>
    (await statesOf(world)).every((state) => state === 'delivered'),
  );
  expect(sequencesOf(ended)).toEqual({ [first.id]: [1, 2, 3], [second.id]: [1] });
  await world.advanceUntil('told that it is well again', () => recovered.length > 0);
  expect([recovered, troubles.length]).toEqual([[merchant.id], 1]);
});

test('a paused merchant is told nothing until it is enabled, and then everything', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { merchant } = await world.addMerchant(`${shop.url}/a`);
  await world.addMerchant(`${shop.url}/other`);
  await world.deliver();
  await setMerchantState(world.context, merchant.id, 'paused');
  const ended: Ended[] = [];
  shop.behaviours['/a'] = endInReverse(ended);
  const payments = await world.applyTransactions(40, ['pending', 'paid']);
  await world.advanceUntil('the other has all', () => shop.acceptedCalls('/other').length === 80);
  expect(shop.callsTo('/a')).toHaveLength(0);
  await setMerchantState(world.context, merchant.id, 'enabled');
  await world.advanceUntil('all drained', () => ended.length === 80);
  expect(sequencesOf(ended)).toEqual(Object.fromEntries(payments.map(({ id }) => [id, [1, 2]])));
});

test('an open breaker holds callbacks; one probe is sent, and its success lets all go', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  let well = false;
  shop.behaviours['/a'] = () => (well ? 200 : 500);
  const { merchant } = await world.addMerchant(`${shop.url}/a`);
  const nearly = { failures: 9, failing_since: ago(world, 6 * 60_000) };
  await world.context.db.updateTable('merchants').set(nearly).execute();
  await world.deliver();
  await world.applyTransactions(20, ['paid']);
  await world.advanceUntil(
    'the breaker',
    async () => (await findMerchant(world.context.db, merchant.id)).breaker_opened_at,
  );
  await world.advanceUntil('all held', async () => (await statesOf(world)).every((state) => state === 'held'));
  const before = shop.calls.length;
  await world.applyTransaction(['paid']);
  expect(await statesOf(world)).toEqual(Array.from({ length: 21 }, () => 'held'));
  await world.timers.advance(PROBE_EVERY_MS);
  await world.advanceUntil('a probe', () => shop.calls.length === before + 1);
  await world.advanceUntil('held again', async () => (await statesOf(world)).every((state) => state === 'held'));
  expect(shop.calls).toHaveLength(before + 1);
  well = true;
  await world.timers.advance(PROBE_EVERY_MS);
  await world.advanceUntil('all delivered', async () =>
    (await statesOf(world)).every((state) => state === 'delivered'),
  );
  expect(await findMerchant(world.context.db, merchant.id)).toMatchObject({ failures: 0, failing_since: null });
});

test('a day without a success is told once, and five days disable', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  shop.behaviours['/a'] = () => 503;
  const { merchant } = await world.addMerchant(`${shop.url}/a`);
  const troubles: MerchantOutage[] = [];
  await world.deliver({ onOutage: (trouble) => void troubles.push(trouble) });
  await world.applyTransaction(['paid']);
  await world.advanceUntil(
    'the first failure',
    async () => (await findMerchant(world.context.db, merchant.id)).failing_since,
  );
  expect(troubles).toEqual([]);
  await world.timers.advance(24 * HOUR_MS);
  await world.advanceUntil('another attempt', () => shop.calls.length >= 2);
  await world.advanceUntil('told', () => troubles.length > 0);
  expect(troubles.map(({ kind }) => kind)).toEqual(['merchant_failing']);
  await world.timers.advance(4 * 24 * HOUR_MS);
  await world.advanceUntil(
    'disabled',
    async () => (await findMerchant(world.context.db, merchant.id)).state === 'disabled',
  );
  await world.advanceUntil('told of that too', () => troubles.length === 2);
  expect(troubles[1]?.kind).toBe('merchant_disabled');
  await world.advanceUntil('held', async () => (await statesOf(world)).every((state) => state === 'held'));
});

test('a callback that outlives its schedule is held while its merchant takes nothing, and failed where it takes others', async () => {
  await using world = await openCallbackEnvironment({ CALLBACK_RETRY_SCHEDULE: '1s' });
  await using shop = await openMerchantServer();
  shop.behaviours['/down'] = () => 500;
  shop.behaviours['/choosy'] = ({ json }) => (json.data.transaction.status === 'denied' ? 422 : 200);
  await world.addMerchant(`${shop.url}/down`);
  await world.addMerchant(`${shop.url}/choosy`);
  await world.deliver();
  await world.applyTransaction(['denied']);
  await world.advanceUntil('the first tries', () => shop.calls.length >= 2);
  await world.applyTransaction(['paid']);
  await world.advanceUntil('the end of it', async () => (await statesOf(world)).every((state) => state !== 'pending'));
  expect(await statesOf(world)).toEqual(['held', 'failed', 'held', 'delivered']);
});

test('a newer event is tried too once the older one has failed for 15 minutes', async () => {
  await using world = await openCallbackEnvironment({ CALLBACK_RETRY_SCHEDULE: '1h,1h' });
  await using shop = await openMerchantServer();
  shop.behaviours['/a'] = ({ json }) => (json.data.transaction.status === 'pending' ? 500 : 200);
  await world.addMerchant(`${shop.url}/a`);
  await world.deliver();
  const paid = await world.applyTransaction(['pending']);
  await world.advanceUntil('the first try', async () => {
    const row = await world.context.db.selectFrom('callbacks').select('first_failed_at').executeTakeFirst();
    return row?.first_failed_at;
  });
  await world.appendEvents(paid, ['paid']);
  let looks = 0;
  const put = await world.advanceUntil('put off', async () => {
    const rows = await world.context.db.selectFrom('callbacks').selectAll().orderBy('seq').execute();
    const [older, newer] = rows;
    const until15 = (older?.first_failed_at?.getTime() ?? 0) + 15 * 60_000;
    return newer?.next_attempt_at?.getTime() === until15 ? newer : undefined;
  });
  await world.timers.advance(14 * 60_000);
  await world.advanceUntil('looks that do not send it', async () => ++looks > 5);
  expect(put.state).toBe('pending');
  expect(shop.acceptedCalls('/a')).toHaveLength(0);
  await world.timers.advance(60_000);
  await world.advanceUntil('the newer one', () => shop.acceptedCalls('/a').length === 1);
});
