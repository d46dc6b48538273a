import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { eventually } from '../../support/eventually.ts';
import { type MerchantServer, openMerchantServer } from '../../support/open-merchant-server.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { startTestSandbox, type TestSandbox } from '../../support/start-test-sandbox.ts';
import { inFile } from '../../support/write-temporary-file.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SINCE = '2020-01-01T00:00:00Z';

type Merchant = { id: string; token: string };
type Triggered = { transaction: string; events: string[] };

const stack = new AsyncDisposableStack();
let sandbox: TestSandbox;
let served: ServedEnvironment;
let local: MerchantServer;
let merchant: Merchant;

beforeAll(async () => {
  sandbox = stack.use(await startTestSandbox());
  served = stack.use(await openServedEnvironment({ providerUrl: sandbox.url }));
  local = stack.use(await openMerchantServer());
  await sandbox.request('PUT', '/sandbox/webhooks/target', {
    url: `${served.url}/webhooks/pix`,
    token: served.env.WEBHOOK_SECRET,
  });
  const { id } = await served.api.call<Merchant>('POST', '/merchants', { name: 'Loja', events_since: SINCE });
  merchant = await served.api.call<Merchant>('POST', `/merchants/${id}/pull-token`, {});
  merchant.id = id;
});
afterAll(() => stack.disposeAsync());

const listen = (...more: string[]) =>
  runCommandInProcess(
    ['listen', '--server', served.url, '--forward', `${local.url}/pix`, '--since', SINCE, '--once', ...more],
    { CONFERE_PULL_TOKEN: merchant.token },
  );

async function trigger(type: string, ...more: string[]): Promise<Triggered> {
  const args = ['events', 'trigger', type, '--sandbox', sandbox.url, '--api-key', API_KEY, '--json', ...more];
  const { code, out, err } = await runCommandInProcess(args);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Triggered;
}

const eventsOf = (transaction: string) =>
  eventually('its callbacks', async () => {
    const { callbacks } = await served.api.call<{ callbacks: { state: string; type: string }[] }>(
      'GET',
      `/callbacks?transaction_id=${transaction}`,
    );
    return callbacks.some((one) => one.type.endsWith('.refund')) ? callbacks : undefined;
  });

test('an event of the sandbox reaches a local address, signed, and stays unacknowledged', async () => {
  const { transaction, events } = await trigger('pix.cashin.refund', '--amount', '150.00', '--reference', 'pedido-1');
  expect(events).toEqual(['pending', 'paid', 'refund']);
  await eventsOf(transaction);
  const { code, out, err } = await listen('--secret', inFile('secret', SECRET));
  expect([code, err]).toEqual([0, `ready: events from 2020-01-01T00:00:00.000Z on are posted to ${local.url}/pix\n`]);
  const calls = local.callsTo('/pix');
  expect(calls.map(({ json }) => [json.type, json.data.transaction.amount])).toEqual(
    ['pending', 'paid', 'refund'].map((status) => [`pix.cashin.${status}`, '150.00']),
  );
  for (const { body, headers } of calls) expect(() => new Webhook(SECRET).verify(body, headers)).not.toThrow();
  expect(out.trim().split('\n')).toHaveLength(3);
  expect(out).toMatch(/pix\.cashin\.paid {2}msg_\S+ {2}200 in \d+ ms/);
  expect((await eventsOf(transaction)).map((one) => one.state)).toEqual(['pending', 'pending', 'pending']);
});

test('chosen types are posted alone, and an address that refuses one ends with 1', async () => {
  local.behaviours['/pix'] = () => 500;
  const before = local.calls.length;
  const { code, out, err } = await listen('--types', 'pix.cashin.paid');
  expect(code).toBe(1);
  expect(err).toMatch(/signed with whsec_[\s\S]*1 of 1 were not accepted: run it with --since once more\n$/);
  expect(local.calls.slice(before).map(({ json }) => json.type)).toEqual(['pix.cashin.paid']);
  expect(out).toContain('500 in');
});

test('in the format of the provider, the flat body and a bearer token are posted', async () => {
  local.behaviours['/pix'] = () => 200;
  const before = local.calls.length;
  const { code } = await listen(
    '--types',
    'pix.cashin.paid',
    '--format',
    'provider',
    '--bearer-token',
    inFile('token', 'known'),
  );
  expect(code).toBe(0);
  const [{ json, headers } = {}] = local.calls.slice(before);
  expect(json).toMatchObject({ transaction_operation: 'in', transaction_amount: '150.00', status: 'paid' });
  expect(headers).toMatchObject({ authorization: 'Bearer known', 'webhook-id': expect.stringMatching(/^msg_/) });
  expect(await listen('--format', 'flat')).toMatchObject({ code: 2 });
});

test('an event is posted however many there were before --since', async () => {
  const { db, clock } = served.context;
  const { seq: merchant_seq } = await findMerchant(db, merchant.id);
  // more than a page of the feed numbers
  const old = { merchant_seq, type: 'confere.test', source: 'test', state: 'delivered', created_at: new Date(SINCE) };
  const rows = Array.from({ length: 1_001 }, (_, index) => ({ ...old, webhook_id: `msg_old_${index}` }));
  await db.insertInto('callbacks').values(rows).execute();
  const since = clock.now().toISOString();
  const { transaction } = await trigger('pix.cashin.refund');
  await eventsOf(transaction);
  const before = local.calls.length;
  const { code, out } = await listen('--since', since);
  expect(code).toBe(0);
  const own = ['pix.cashin.pending', 'pix.cashin.paid', 'pix.cashin.refund'];
  expect(local.calls.slice(before).map(({ json }) => json.type)).toEqual(own);
  // an id stands for the moment at which its event was made
  const [first = ''] = /msg_\w+/.exec(out) ?? [];
  expect(await listen('--since', first)).toMatchObject({
    ...{ code: 0, err: expect.stringContaining(`from ${first} on are posted to ${local.url}/pix\n`) },
  });
  expect(local.calls.slice(before + own.length).map(({ json }) => json.type)).toEqual(own);
  const none = await listen('--since', 'msg_none');
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('since is the id of no event of yours')]);
  expect((await listen('--since', 'yesterday')).code).toBe(2);
});

test('a wrong token, an address that is none and a type that is none are said', async () => {
  const wrong = await listen('--token', inFile('wrong', 'mpt_wrong'));
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('answered 401: send a pull token')]);
  expect(wrong.err).not.toContain('ready');
  for (const option of ['--token', '--secret', '--bearer-token']) {
    const given = await listen(option, 'whsec_c2VjcmV0');
    expect([given.code, given.err]).toEqual([2, expect.stringContaining(`${option} takes a file with it, or -`)]);
    expect(given.err).not.toContain('whsec_');
  }
  const address = await listen('--forward', 'localhost');
  expect([address.code, address.err]).toEqual([2, expect.stringContaining('--forward must be an address')]);
  const type = await runCommandInProcess(['events', 'trigger', 'pix.cashin.payed']);
  expect([type.code, type.err]).toEqual([2, expect.stringContaining('nearest are pix.cashin.paid, ')]);
  const none = await runCommandInProcess(['events', 'trigger', 'bogus']);
  expect([none.code, none.err.split('\n').length, none.err.length < 300]).toEqual([2, 2, true]);
  const types = await listen('--types', 'pix.cashin.paid,banana');
  expect([types.code, types.out]).toEqual([2, '']);
  expect(types.err).toMatch(/--types: banana is none of pix\.cashin\.pending, .*pix\.day\.manifest, confere\.test/);
});
