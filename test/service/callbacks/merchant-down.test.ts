import { expect, test } from 'vitest';
import type { MerchantOutage } from '../../../src/callbacks/deliver/deliver.ts';
import { PROBE_EVERY_MS } from '../../../src/callbacks/health/merchant-health.ts';
import { readCallbackMetrics } from '../../../src/callbacks/health/read-callback-metrics.ts';
import { closedBreaker, readDelivery } from '../../../src/callbacks/manage/read-delivery.ts';
import { sendTest } from '../../../src/callbacks/manage/send-test.ts';
import { setMerchantState } from '../../../src/merchants/change-merchants.ts';
import { setOwnState } from '../../../src/merchants/change-own.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { readOwnHistory } from '../../../src/portal/read-own-history.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type Behaviour, openMerchantServer } from '../../support/open-merchant-server.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

async function statesOf(env: CallbackEnvironment): Promise<string[]> {
  const rows = await env.context.db.selectFrom('callbacks').select('state').orderBy('seq').execute();
  return rows.map((row) => row.state);
}

/** Reads what the service changed at merchants by itself, as their history shows it, the newest first. */
async function listOwn({ context: { db } }: CallbackEnvironment, merchantId: string) {
  const { seq, id } = await findMerchant(db, merchantId);
  const { changes } = await readOwnHistory(db, { seq, id }, { limit: 10, after: undefined });
  return changes.map(({ action, by, disabled_for: why }) => [action, by, why]);
}

type Ended = { id: string; sequence: number };

/** Answers 200, later for older events: callbacks sent in parallel end in the wrong order. */
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

/** The sequences of each payment, in the order in which the merchant received them. */
function sequencesOf(ended: Ended[]): Record<string, number[]> {
  const byPayment = Map.groupBy(ended, ({ id }) => id);
  return Object.fromEntries([...byPayment].map(([id, taken]) => [id, taken.map(({ sequence }) => sequence)]));
}

function ago(env: CallbackEnvironment, ms: number): Date {
  return new Date(env.context.clock.now().getTime() - ms);
}

test('410 disables a merchant: nothing more is sent, what comes is held, and enabling it delivers all in order', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  shop.behaviours['/gone'] = () => 410;
  const { merchant } = await env.addMerchant(`${shop.url}/gone`);
  const outages: MerchantOutage[] = [];
  const recovered: string[] = [];
  await env.deliver({
    onOutage: (trouble) => void outages.push(trouble),
    onRecovery: (id) => void recovered.push(id),
  });
  const first = await env.applyTransaction(['pending', 'in_process', 'paid']);
  await env.advanceUntil(
    'disabled',
    async () => (await findMerchant(env.context.db, merchant.id)).state === 'disabled',
  );
  const second = await env.applyTransaction(['paid']);
  await env.advanceUntil('all held', async () => (await statesOf(env)).every((state) => state === 'held'));
  expect(shop.callsTo('/gone')).toHaveLength(1);
  await env.advanceUntil('reported', () => outages.length === 1);
  expect(outages[0]).toMatchObject({ kind: 'merchant_disabled', merchantId: merchant.id });
  const ended: Ended[] = [];
  shop.behaviours['/gone'] = endInReverse(ended);
  await setMerchantState(env.context, merchant.id, 'enabled');
  await env.advanceUntil('all delivered', async () => (await statesOf(env)).every((state) => state === 'delivered'));
  expect(sequencesOf(ended)).toEqual({ [first.id]: [1, 2, 3], [second.id]: [1] });
  await env.advanceUntil('the recovery is reported', () => recovered.length > 0);
  expect([recovered, outages.length]).toEqual([[merchant.id], 1]);
  expect(await listOwn(env, merchant.id)).toEqual([['merchant.disabled', 'confere', 'gone']]);
});

test('a test that is answered 410 fails and disables nobody, and no figure counts it as a failed callback', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { context } = env;
  shop.behaviours['/gone'] = () => 410;
  const { merchant } = await env.addMerchant(`${shop.url}/gone`);
  await env.deliver();
  await sendTest(context, merchant.id);
  await env.advanceUntil('it failed', async () => (await statesOf(env)).join() === 'failed');
  expect(await findMerchant(context.db, merchant.id)).toMatchObject({ state: 'enabled', failing_since: null });
  const row = await findMerchant(context.db, merchant.id);
  expect((await readDelivery(context, row)).counts).toMatchObject({
    pending: { n: 0 },
    held: { n: 0 },
    failed: { n: 0 },
  });
  const [counts] = await readCallbackMetrics(context);
  expect(counts?.values).toMatchObject([{ value: 0 }, { value: 0 }, { value: 0 }]);
});

test('a paused merchant gets no callback until it is enabled, and then all of them', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { merchant } = await env.addMerchant(`${shop.url}/a`);
  await env.addMerchant(`${shop.url}/other`);
  await env.deliver();
  await setMerchantState(env.context, merchant.id, 'paused');
  const ended: Ended[] = [];
  shop.behaviours['/a'] = endInReverse(ended);
  const payments = await env.applyTransactions(40, ['pending', 'paid']);
  await env.advanceUntil('the other has all', () => shop.acceptedCalls('/other').length === 80);
  expect(shop.callsTo('/a')).toHaveLength(0);
  await setMerchantState(env.context, merchant.id, 'enabled');
  await env.advanceUntil('all drained', () => ended.length === 80);
  expect(sequencesOf(ended)).toEqual(Object.fromEntries(payments.map(({ id }) => [id, [1, 2]])));
});

test('an open breaker holds callbacks; one probe is sent, and its success lets all go', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  let well = false;
  shop.behaviours['/a'] = () => (well ? 200 : 500);
  const { merchant } = await env.addMerchant(`${shop.url}/a`);
  const nearly = { failures: 9, failing_since: ago(env, 6 * 60_000) };
  await env.context.db.updateTable('merchants').set(nearly).execute();
  await env.deliver();
  await env.applyTransactions(20, ['paid']);
  await env.advanceUntil(
    'the breaker',
    async () => (await findMerchant(env.context.db, merchant.id)).breaker_opened_at,
  );
  await env.advanceUntil('all held', async () => (await statesOf(env)).every((state) => state === 'held'));
  const before = shop.calls.length;
  await env.applyTransaction(['paid']);
  expect(await statesOf(env)).toEqual(Array.from({ length: 21 }, () => 'held'));
  await env.timers.advance(PROBE_EVERY_MS);
  await env.advanceUntil('a probe', () => shop.calls.length === before + 1);
  await env.advanceUntil('held again', async () => (await statesOf(env)).every((state) => state === 'held'));
  expect(shop.calls).toHaveLength(before + 1);
  well = true;
  await env.timers.advance(PROBE_EVERY_MS);
  await env.advanceUntil('all delivered', async () => (await statesOf(env)).every((state) => state === 'delivered'));
  expect(await findMerchant(env.context.db, merchant.id)).toMatchObject({ failures: 0, failing_since: null });
  expect(await listOwn(env, merchant.id)).toEqual([
    ['merchant.breaker_closed', 'confere', null],
    ['merchant.breaker_opened', 'confere', null],
  ]);
});

test('a test to the production URL that is accepted closes the breaker, and is said to have', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { merchant } = await env.addMerchant(shop.url);
  const since = ago(env, HOUR_MS);
  const open = { failures: 12, failing_since: since, breaker_opened_at: since };
  await env.context.db.updateTable('merchants').set(open).where('id', '=', merchant.id).execute();
  const first = await sendTest(env.context, merchant.id);
  await env.deliver();
  const closedBy = async ({ webhook_id: id }: { webhook_id: string }) => {
    await env.advanceUntil('the test', async () => (await statesOf(env)).every((state) => state === 'delivered'));
    const row = await env.context.db
      .selectFrom('callbacks')
      .select(['source', 'delivered_at'])
      .where('webhook_id', '=', id)
      .executeTakeFirstOrThrow();
    return closedBreaker(env.context.db, { ...row, merchant_id: merchant.id });
  };
  expect(await closedBy(first)).toBe(true);
  expect(await closedBy(await sendTest(env.context, merchant.id))).toBe(false);
});

test('a merchant that closes its breaker gets what was held, and has failed for as long as before until it accepts one', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { context } = env;
  const { merchant } = await env.addMerchant(`${shop.url}/a`);
  await env.applyTransactions(20, ['paid']);
  const since = ago(env, HOUR_MS);
  const probe_at = new Date(context.clock.now().getTime() + HOUR_MS);
  const open = { failures: 12, failing_since: since, breaker_opened_at: since, probe_at };
  await context.db.updateTable('merchants').set(open).execute();
  await env.deliver();
  await env.advanceUntil('all held', async () => (await statesOf(env)).every((state) => state === 'held'));
  const closed = await setOwnState(context, merchant.id, 'enabled');
  expect(closed).toMatchObject({ failures: 0, failing_since: since, breaker_opened_at: null });
  await env.advanceUntil('all delivered', async () => (await statesOf(env)).every((state) => state === 'delivered'));
  expect(await findMerchant(context.db, merchant.id)).toMatchObject({ failures: 0, failing_since: null });
});

test('half an hour without a success is reported once, and five days disable the merchant', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  shop.behaviours['/a'] = () => 503;
  const { merchant } = await env.addMerchant(`${shop.url}/a`);
  const outages: MerchantOutage[] = [];
  await env.deliver({ onOutage: (trouble) => void outages.push(trouble) });
  await env.applyTransaction(['paid']);
  await env.advanceUntil(
    'the first failure',
    async () => (await findMerchant(env.context.db, merchant.id)).failing_since,
  );
  expect(outages).toEqual([]);
  await env.timers.advance(29 * MINUTE_MS);
  await env.advanceUntil('another attempt', () => shop.calls.length >= 2);
  expect(outages).toEqual([]);
  await env.timers.advance(MINUTE_MS);
  await env.advanceUntil('reported', () => outages.length > 0);
  expect(outages.map(({ kind }) => kind)).toEqual(['merchant_failing']);
  await env.timers.advance(5 * 24 * HOUR_MS);
  await env.advanceUntil(
    'disabled',
    async () => (await findMerchant(env.context.db, merchant.id)).state === 'disabled',
  );
  await env.advanceUntil('the disabling is reported too', () => outages.length === 2);
  expect(outages[1]?.kind).toBe('merchant_disabled');
  await env.advanceUntil('held', async () => (await statesOf(env)).every((state) => state === 'held'));
});

test('a callback that outlives its schedule is held while its merchant takes nothing, and failed where it takes others', async () => {
  await using env = await openCallbackEnvironment({ CALLBACK_RETRY_SCHEDULE: '2m' });
  await using shop = await openMerchantServer();
  shop.behaviours['/down'] = () => 500;
  shop.behaviours['/choosy'] = ({ json }) => (json.data.transaction.status === 'denied' ? 422 : 200);
  await env.addMerchant(`${shop.url}/down`);
  await env.addMerchant(`${shop.url}/choosy`);
  await env.deliver();
  await env.applyTransaction(['denied']);
  await env.advanceUntil('the first tries', () => shop.calls.length >= 2);
  await env.applyTransaction(['paid']);
  await env.advanceUntil('one that is taken', async () => (await statesOf(env)).includes('delivered'));
  await env.timers.advance(120_000);
  await env.advanceUntil('the end of it', async () => (await statesOf(env)).every((state) => state !== 'pending'));
  expect(await statesOf(env)).toEqual(['held', 'failed', 'held', 'delivered']);
});

test('a newer event is tried too once the older one has failed for 15 minutes', async () => {
  await using env = await openCallbackEnvironment({ CALLBACK_RETRY_SCHEDULE: '1h,1h' });
  await using shop = await openMerchantServer();
  shop.behaviours['/a'] = ({ json }) => (json.data.transaction.status === 'pending' ? 500 : 200);
  await env.addMerchant(`${shop.url}/a`);
  await env.deliver();
  const paid = await env.applyTransaction(['pending']);
  await env.advanceUntil('the first try', async () => {
    const row = await env.context.db.selectFrom('callbacks').select('first_failed_at').executeTakeFirst();
    return row?.first_failed_at;
  });
  await env.appendEvents(paid, ['paid']);
  let passes = 0;
  const deferred = await env.advanceUntil('deferred', async () => {
    const rows = await env.context.db.selectFrom('callbacks').selectAll().orderBy('seq').execute();
    const [older, newer] = rows;
    const until15 = (older?.first_failed_at?.getTime() ?? 0) + 15 * 60_000;
    return newer?.next_attempt_at?.getTime() === until15 ? newer : undefined;
  });
  await env.timers.advance(14 * 60_000);
  await env.advanceUntil('passes that do not send it', async () => ++passes > 5);
  expect(deferred.state).toBe('pending');
  expect(shop.acceptedCalls('/a')).toHaveLength(0);
  await env.timers.advance(60_000);
  await env.advanceUntil('the newer one', () => shop.acceptedCalls('/a').length === 1);
});
