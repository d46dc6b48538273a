import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { expect, test } from 'vitest';
import type { CallbackCause } from '../../../src/callbacks/queue/callback-rows.ts';
import { enqueueCallbacks } from '../../../src/callbacks/queue/enqueue-callbacks.ts';
import { readRecipients } from '../../../src/callbacks/queue/read-recipients.ts';
import { callbackBodySchema } from '../../../src/callbacks/render/event-schema.ts';
import { transact } from '../../../src/database/transact.ts';
import { eventually } from '../../support/eventually.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { numRuns } from '../../support/property.ts';

test('an event reaches the merchant once, signed so that two other libraries accept it', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { secret } = await env.addMerchant(`${shop.url}/a`);
  await env.deliver();
  const paid = await env.applyTransaction(['pending', 'paid']);
  await eventually('both callbacks', () => shop.callsTo('/a').length === 2);
  const [first, second] = shop.callsTo('/a');
  expect([first?.json.type, second?.json.type]).toEqual(['pix.cashin.pending', 'pix.cashin.paid']);
  expect(second?.json.data).toMatchObject({
    previous_status: 'pending',
    source: 'reconciliation',
    transaction: { id: paid.id, status: 'paid', sequence: 2, current_status: 'paid', amount: '123.45' },
  });
  for (const call of shop.callsTo('/a')) {
    // nothing that the schema for merchants does not name, and nothing missing
    expect(callbackBodySchema.parse(call.json)).toEqual(call.json);
    expect(new Webhook(secret).verify(call.body, call.headers)).toEqual(call.json);
    expect(() => new SvixWebhook(secret).verify(call.body, call.headers)).not.toThrow();
  }
  const rows = await eventually('both recorded', async () => {
    const found = await env.context.db.selectFrom('callbacks').selectAll().execute();
    return found.every((row) => row.state === 'delivered') ? found : undefined;
  });
  expect(rows.map((row) => row.attempts)).toEqual([1, 1]);
});

test('a callback that fails is tried again under the same id, and newer ones of its payment wait for it', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const tries = new Map<string, number>();
  shop.behaviours['/b'] = ({ headers }) => {
    const id = headers['webhook-id'] ?? '';
    tries.set(id, (tries.get(id) ?? 0) + 1);
    return (tries.get(id) ?? 0) <= 2 ? 500 : 200;
  };
  await env.addMerchant(`${shop.url}/b`);
  await env.deliver();
  const payments = await env.applyTransactions(5, ['pending']);
  await Promise.all(payments.map((paid) => env.appendEvents(paid, ['paid', 'refund'])));
  await env.advanceUntil('all delivered', () => shop.acceptedCalls('/b').length === 15);
  for (const paid of payments) {
    const calls = shop.callsTo('/b').filter((call) => call.json.data.transaction.id === paid.id);
    expect(calls.map((call) => call.json.data.transaction.sequence)).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3]);
    expect(new Set(calls.map((call) => call.headers['webhook-id'])).size).toBe(3);
  }
});

test('a merchant that hangs and one that is dead delay nobody', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  shop.behaviours['/hangs'] = () => 'hangs';
  await env.addMerchant(`${shop.url}/hangs`);
  await env.addMerchant('http://127.0.0.1:1/');
  await env.addMerchant(`${shop.url}/a`);
  // in frozen time no attempt times out: a delivery that waits for one that hangs never ends, and the test fails
  env.timers.freeze();
  await env.deliver();
  const payments = numRuns(40, 100);
  await env.applyTransactions(payments, ['paid']);
  await eventually('all of the well merchant', () => shop.acceptedCalls('/a').length === payments);
  // the dead one is tried again meanwhile
  await env.timers.advance(2_000);
  await env.applyTransactions(payments, ['paid']);
  await eventually('all of the well merchant again', () => shop.acceptedCalls('/a').length === 2 * payments);
  expect(shop.callsTo('/hangs').length).toBeGreaterThan(0);
  expect(shop.callsTo('/hangs').length).toBeLessThanOrEqual(32);
});

test('attempts in flight at shutdown end and are recorded', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const asked = Promise.withResolvers<void>();
  const stopping = Promise.withResolvers<void>();
  shop.behaviours['/slow'] = () => (_request, response) => {
    asked.resolve();
    void stopping.promise.then(() => response.end());
  };
  await env.addMerchant(`${shop.url}/slow`);
  const delivery = await env.deliver();
  await env.applyTransaction(['paid']);
  await asked.promise;
  const stopped = delivery.stop();
  await new Promise(setImmediate);
  stopping.resolve();
  await stopped;
  const row = await env.context.db.selectFrom('callbacks').select(['state', 'attempts']).executeTakeFirst();
  expect(row).toEqual({ state: 'delivered', attempts: 1 });
});

test('an event has one callback, however often it is written, and none for merchants whose filter does not match', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  await env.addMerchant(`${shop.url}/all`);
  await env.addMerchant(`${shop.url}/store`, { filter: { extra_match: { store: '12' } } });
  await env.addMerchant(`${shop.url}/late`, { eventsSince: new Date(Date.now() + 3_600_000) });
  await env.deliver();
  await env.applyTransaction(['paid'], { extra: '{"store":12}' });
  await env.applyTransaction(['paid'], { extra: 'store 12' });
  const { context } = env;
  const count = await transact(context.db, async (trx) => {
    const event = await trx.selectFrom('events').selectAll().executeTakeFirstOrThrow();
    const { id } = await trx
      .selectFrom('transactions')
      .select('id')
      .where('seq', '=', event.transaction_seq)
      .executeTakeFirstOrThrow();
    const causes: CallbackCause[] = [
      {
        transaction: {
          seq: event.transaction_seq,
          id,
          operation: 'cashin',
          reference: null,
          extra: null,
          platform: null,
        },
        event: { ...event, at: context.calendar.toInstant(event.at_wall), atWall: event.at_wall },
        previousStatus: null,
        source: 'reconciliation',
      },
    ];
    await enqueueCallbacks(context, trx, { causes, recipients: await readRecipients(trx) });
    return (await trx.selectFrom('callbacks').select('seq').execute()).length;
  });
  expect(count).toBe(3);
  await eventually('all', () => shop.calls.length === 3);
  expect([shop.callsTo('/all').length, shop.callsTo('/store').length, shop.callsTo('/late').length]).toEqual([2, 1, 0]);
});
