import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toProviderBody } from '../../../src/callbacks/render/provider-body.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { updateMerchant } from '../../../src/merchants/change-merchants.ts';
import { rotateSecret } from '../../../src/merchants/secrets.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi } from '../../support/open-api.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type MerchantServer, openMerchantServer } from '../../support/open-merchant-server.ts';
import { openSurfaces } from '../../support/open-surfaces.ts';

const THEIRS = {
  format: 'provider',
  bearerToken: 'known-token-of-theirs',
  headers: { 'X-Key': 'known-value' },
} as const;

const stack = new AsyncDisposableStack();
let env: CallbackEnvironment;
let shop: MerchantServer;

beforeAll(async () => {
  env = stack.use(await openCallbackEnvironment());
  shop = stack.use(await openMerchantServer());
  await env.deliver();
});
afterAll(() => stack.disposeAsync());

test('another Confere takes the callbacks for webhooks of the provider', async () => {
  await using other = await openCallbackEnvironment({ WEBHOOK_SECRET: THEIRS.bearerToken, WEBHOOK_AUTH: 'bearer' });
  const receiver = (await openSurfaces(other)).url;
  const { merchant } = await env.addMerchant(`${receiver}/webhooks/pix`, THEIRS);
  const paid = await env.applyTransaction(['pending', 'paid'], { reference: 'order-1', extra: '{"store":12}' });
  const sent = env.context.db.selectFrom('callbacks').selectAll().where('merchant_seq', '=', merchant.seq);
  const rows = await eventually('both are delivered', async () => {
    const found = await sent.orderBy('seq').execute();
    return found.length === 2 && found.every((row) => row.state === 'delivered') ? found : undefined;
  });
  const webhooks = await other.context.db.selectFrom('webhooks').select(['body', 'state']).orderBy('seq').execute();
  expect(webhooks.map(({ state, body }) => [state, JSON.parse(String(body)) as object])).toEqual(
    rows.map((row) => [
      'received',
      expect.objectContaining({ transaction_id: paid.id, status: row.type.split('.').at(-1), extra: '{"store":12}' }),
    ]),
  );
  // with another token, nothing is taken
  await updateMerchant(env.context, merchant.id, { bearerToken: 'another-token-of-theirs' });
  await env.appendEvents(paid, ['refund']);
  const refused = env.context.db
    .selectFrom('callback_attempts')
    .select('response_status')
    .where('response_status', '=', 401);
  await eventually('the refusal', async () => (await refused.execute()).length > 0);
  await updateMerchant(env.context, merchant.id, { state: 'paused' });
});

test('each attempt has the body of the provider, the bearer token, the headers and the signature', async () => {
  const call = await openApi(env);
  const { merchant, secret } = await env.addMerchant(`${shop.url}/flat`, THEIRS);
  // a rotation ends secrets that sign, and no header
  const { secret: next } = await rotateSecret(env.context, merchant.id);
  const ending = env.context.db.selectFrom('merchant_secrets').select('header').where('expires_at', 'is not', null);
  expect(await ending.where('merchant_seq', '=', merchant.seq).execute()).toEqual([{ header: null }]);
  shop.behaviours['/flat'] = (_call, nth) => (nth === 1 ? 500 : 200);
  const paid = await env.applyTransaction(['pending', 'paid'], { name: 'Maria' });
  await env.advanceUntil('all are delivered', () => shop.acceptedCalls('/flat').length === 2);
  const [first, again, last] = shop.callsTo('/flat');
  for (const { headers, body } of [first, again, last].filter((call) => call !== undefined)) {
    expect(headers).toMatchObject({ authorization: 'Bearer known-token-of-theirs', 'x-key': 'known-value' });
    for (const key of [secret, next]) expect(() => new Webhook(key).verify(body, headers)).not.toThrow();
    const id = headers['webhook-id'] ?? '';
    expect(JSON.parse(body)).toMatchObject({
      id: toProviderBody({ type: 'confere.test', timestamp: '', data: {} }, id)?.id,
    });
    expect(body).not.toContain('Maria');
  }
  expect([first, again, last].map((call) => (JSON.parse(call?.body ?? '{}') as { status: string }).status)).toEqual([
    ...['pending', 'pending', 'paid'],
  ]);
  expect(again?.body).toBe(first?.body);

  const test = await call('POST', `/merchants/${merchant.id}/test`);
  expect(test.status).toBe(202);
  const delivered = env.context.db.selectFrom('callbacks').select('seq').where('state', '=', 'delivered');
  const mine = delivered.where('merchant_seq', '=', merchant.seq);
  await eventually('all are recorded, with the test', async () => (await mine.execute()).length === 3);
  expect(shop.callsTo('/flat')).toHaveLength(4);
  expect(JSON.parse(shop.callsTo('/flat').at(-1)?.body ?? '')).toMatchObject({ transaction_reference: 'confere.test' });

  const query = `transaction_id=${paid.id}&merchant=${merchant.id}`;
  const [callback] = (await call<{ callbacks: { id: string }[] }>('GET', `/callbacks?${query}`)).json.callbacks;
  const texts = [
    await call('GET', `/callbacks/${callback?.id}`),
    await call('GET', `/merchants/${merchant.id}`),
    await call('PATCH', `/merchants/${merchant.id}`, { headers: { 'x-zone': 'known-zone' } }),
    await call('GET', `/audit`),
  ].map(({ text }) => text);
  expect(texts.join()).not.toMatch(/known-/);
  // as they were sent, without the signature; the row has only the names of the merchant's, and of a test where it went
  const { attempt_list } = JSON.parse(texts[0] ?? '') as { attempt_list: { request_headers: object; at: string }[] };
  const recorded = env.context.db.selectFrom('callback_attempts').select('request_headers').orderBy('seq', 'desc');
  expect((await recorded.executeTakeFirst())?.request_headers).toMatch(
    /^\["authorization","x-key","host: 127\.0\.0\.1:\d+"\]$/,
  );
  const sent = last?.headers ?? {};
  expect(JSON.stringify(attempt_list[0]?.request_headers)).toBe(
    JSON.stringify({
      ...{ 'content-type': 'application/json', 'user-agent': sent['user-agent'], 'webhook-id': sent['webhook-id'] },
      ...{ 'webhook-timestamp': sent['webhook-timestamp'], authorization: 'Bearer ***', 'x-key': '***' },
    }),
  );
  expect(JSON.parse(texts[2] ?? '')).toMatchObject({
    ...{ format: 'provider', has_bearer_token: true, header_names: ['x-key', 'x-zone'] },
  });
  await updateMerchant(env.context, merchant.id, { state: 'paused' });
});

test('a correction is not sent in the format of the provider: it fails at once, and says so', async () => {
  const { merchant } = await env.addMerchant(`${shop.url}/corrected`, THEIRS);
  const paid = await env.applyTransaction(['paid']);
  paid.shown.amount = '120.00';
  await env.appendEvents(paid, []);
  const { db } = env.context;
  const mismatches = db.selectFrom('mismatches').select('id').where('transaction_id', '=', paid.id);
  await acceptMismatch(env.context, (await mismatches.executeTakeFirstOrThrow()).id, {
    actor: 'tok_1',
    note: 'theirs',
  });
  env.context.wakeUps.callbacks.notify();
  const read = () =>
    db
      .selectFrom('callbacks')
      .select(['seq', 'type', 'state', 'attempts'])
      .where('merchant_seq', '=', merchant.seq)
      .orderBy('sequence')
      .execute();
  await eventually('the correction has failed', async () => (await read())[1]?.state === 'failed');
  // it says nothing of the merchant's address
  const health = db.selectFrom('merchants').select(['failures', 'failing_since']).where('seq', '=', merchant.seq);
  expect(await health.executeTakeFirst()).toEqual({ failures: 0, failing_since: null });
  await env.appendEvents(paid, ['refund']);
  await eventually('the refund is delivered', async () => (await read())[2]?.state === 'delivered');
  const rows = await read();
  expect(rows.map(({ type, state, attempts }) => [type, state, attempts])).toEqual([
    ['pix.cashin.paid', 'delivered', 1],
    ['pix.cashin.corrected', 'failed', 1],
    ['pix.cashin.refund', 'delivered', 1],
  ]);
  expect(shop.callsTo('/corrected')).toHaveLength(2);
  const attempt = db
    .selectFrom('callback_attempts')
    .select('error_class')
    .where('callback_seq', '=', rows[1]?.seq ?? 0);
  expect(await attempt.execute()).toEqual([{ error_class: 'no_provider_body' }]);
  const mail = db
    .selectFrom('merchant_mails')
    .select(['cause', 'callback_seq'])
    .where('merchant_seq', '=', merchant.seq);
  expect(await mail.execute()).toEqual([{ cause: 'no_provider_body', callback_seq: rows[1]?.seq }]);
});
