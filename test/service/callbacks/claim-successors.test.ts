import { createSecretKey } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createPrepareSuccessor, dispatch } from '../../../src/callbacks/deliver/dispatch.ts';
import { createRecorder } from '../../../src/callbacks/deliver/recorder.ts';
import type { Sender } from '../../../src/callbacks/deliver/send-attempt.ts';
import { claimCallbacks } from '../../../src/callbacks/queue/claim-callbacks.ts';
import type { ClaimedCallback } from '../../../src/callbacks/queue/claimed-callback.ts';
import { readDeliveryMerchants } from '../../../src/callbacks/queue/read-delivery-merchants.ts';
import { createSlots, takeSlot } from '../../../src/callbacks/queue/slots.ts';
import type { Context } from '../../../src/context.ts';
import { removeMerchant, updateMerchant } from '../../../src/merchants/change-merchants.ts';
import { rotateSecret } from '../../../src/merchants/secrets.ts';
import { eventually } from '../../support/eventually.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type Behaviour, openMerchantServer } from '../../support/open-merchant-server.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

const HISTORY = ['pending', 'in_process', 'paid'];

async function claim(env: CallbackEnvironment): Promise<ClaimedCallback[]> {
  const merchants = await readDeliveryMerchants(env.context);
  const wants = merchants.map((merchant) => ({ merchant, slots: 10 }));
  return (await claimCallbacks(env.context, wants, new Set())).claimed;
}

const sequences = (claimed: ClaimedCallback[]): number[][] =>
  claimed.map((one) => [one, ...one.successors].map(({ sequence }) => sequence));

/** Counts the leased callbacks that follow another. */
async function countLeased(env: CallbackEnvironment): Promise<number> {
  const rows = await env.context.db
    .selectFrom('callbacks')
    .select('seq')
    .where('sequence', '>', 1)
    .where('lease_holder', 'is not', null)
    .execute();
  return rows.length;
}

test('a callback that is leased is not claimed, though it is due: a next version leaves its time as it is', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('http://127.0.0.1:1/a');
  await env.applyTransaction(['paid']);
  const lease = async (ms: number): Promise<void> => {
    const until = new Date(env.context.clock.now().getTime() + ms);
    await env.context.db.updateTable('callbacks').set({ lease_holder: 'next', lease_until: until }).execute();
  };
  await lease(60_000);
  expect(await claim(env)).toEqual([]);
  await lease(-1);
  expect(sequences(await claim(env))).toEqual([[1]]);
});

test('a history that was learnt at once is claimed at once, for each merchant its own', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('http://127.0.0.1:1/a');
  await env.addMerchant('http://127.0.0.1:1/b');
  await env.applyTransaction(HISTORY);
  await env.applyTransaction(['paid']);
  expect(sequences(await claim(env)).sort((a, b) => a.length - b.length)).toEqual([[1], [1], [1, 2, 3], [1, 2, 3]]);
  // nothing is left to claim: all of it is leased
  expect(await claim(env)).toEqual([]);
});

test('of a merchant with a rate each is claimed by itself', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('http://127.0.0.1:1/', { rate: 1 });
  await env.applyTransaction(HISTORY);
  expect(sequences(await claim(env))).toEqual([[1]]);
});

test('none follows that another process holds, that failed before, or that comes after such a one', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('http://127.0.0.1:1/');
  await env.applyTransaction(HISTORY);
  const { db, clock } = env.context;
  const until = new Date(clock.now().getTime() + 60_000);
  const second = db.updateTable('callbacks').where('sequence', '=', 2);
  await second.set({ lease_holder: 'another', lease_until: until, next_attempt_at: until }).execute();
  expect(sequences(await claim(env))).toEqual([[1]]);
  const due = { lease_holder: null, lease_until: null, next_attempt_at: clock.now() };
  await db.updateTable('callbacks').set(due).where('sequence', '=', 1).execute();
  await second.set({ lease_holder: null, lease_until: null, first_failed_at: clock.now() }).execute();
  expect(sequences(await claim(env))).toEqual([[1]]);
});

test('successors of a failed callback are released, wait for it, and are sent after it', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  shop.behaviours['/a'] = (_call, nth) => (nth === 1 ? 500 : 200);
  await env.addMerchant(`${shop.url}/a`);
  await env.applyTransaction(HISTORY);
  await env.deliver();
  await eventually('the first has failed', () => shop.calls.length > 0);
  await eventually('the others are released', async () => (await countLeased(env)) === 0);
  await env.advanceUntil('all delivered', () => shop.acceptedCalls('/a').length === 3);
  expect(shop.calls.map((call) => call.json.data.transaction.sequence)).toEqual([1, 1, 2, 3]);
});

test('merchants that hang, with many successors, leave slots to another merchant', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  shop.behaviours['/hang'] = () => 'hangs';
  const filter = { platforms: ['hangs'] };
  for (let count = 0; count < 64; count++) await env.addMerchant(`${shop.url}/hang`, { filter });
  const history = ['pending', 'in_process', 'in_analysis', 'paid', 'refund', 'paid'];
  await env.applyTransactions(8, history, { platform: 'hangs' });
  await env.addMerchant(`${shop.url}/well`, { filter: { platforms: ['well'] } });
  // in frozen time no attempt times out: a delivery that waits for one that hangs never ends, and the test fails
  env.timers.freeze();
  await env.deliver();
  await eventually('all their slots are taken', () => shop.callsTo('/hang').length === 64 * 8);
  await env.applyTransaction(['paid'], { platform: 'well' });
  await eventually('the other merchant is delivered to', () => shop.callsTo('/well').length === 1);
});

test('a successor has no data of a person who is forgotten after its claim', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const change = env.context.db.updateTable('parties').set({ name: null, forgotten_at: new Date() });
  shop.behaviours['/a'] = answerAfter(() => change.execute());
  await env.addMerchant(`${shop.url}/a`);
  await env.applyTransaction(HISTORY, { name: 'Joana Esquecida' });
  await env.deliver();
  await eventually('all', () => shop.callsTo('/a').length === 3);
  expect(shop.callsTo('/a').map((call) => call.body.includes('Joana'))).toEqual([true, false, false]);
});

test('what follows is signed with the secret of its own turn', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { merchant, secret } = await env.addMerchant(`${shop.url}/a`);
  let newSecret = '';
  shop.behaviours['/a'] = answerAfter(async () => {
    ({ secret: newSecret } = await rotateSecret(env.context, merchant.id));
  });
  await env.applyTransaction(['pending', 'paid']);
  await env.deliver();
  await eventually('both', () => shop.callsTo('/a').length === 2);
  const signatures = shop.callsTo('/a').map((call) => String(call.headers['webhook-signature']).split(' ').length);
  expect(signatures).toEqual([1, 2]);
  const [, second] = shop.callsTo('/a');
  const verify = (key: string) =>
    new Webhook(key).verify(second?.body ?? '', second?.headers as Record<string, string>);
  for (const key of [secret, newSecret]) expect(verify(key)).toMatchObject({ type: 'pix.cashin.paid' });
});

test('what follows is not sent where its merchant was paused, or its claim grew old, while it was prepared', async () => {
  await using env = await openCallbackEnvironment();
  const { context } = env;
  await env.addMerchant('http://127.0.0.1:1/');
  await env.applyTransaction(['pending', 'paid']);
  const claimed = await claim(env);
  expect(sequences(claimed)).toEqual([[1, 2]]);
  const sent: string[] = [];
  const dispatcher = await openDispatcher(context, claimed, (body) => sent.push(body));
  const prepareNext = async () => {
    for (const [seq, merchant] of dispatcher.merchants) dispatcher.merchants.set(seq, { ...merchant, holdsBack: true });
    const keys = [createSecretKey(Buffer.alloc(32))];
    const row = { state: 'enabled', deleted_at: null, breaker_opened_at: null, rate: null, is_restored: 0 };
    return { body: {}, to: { row, url: 'http://127.0.0.1:1/', format: 'standard', keys, headers: {} } };
  };
  await dispatch({ ...dispatcher, prepareSuccessor: prepareNext }, claimed);
  await dispatcher.recorder.flushed();
  expect(sent).toHaveLength(1);
  expect(await countLeased(env)).toBe(0);
});

test('what follows goes to the new address of a merchant, and waits with one that is paused', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { merchant } = await env.addMerchant(`${shop.url}/old`, { filter: { platforms: ['a'] } });
  await env.addMerchant(`${shop.url}/other`, { filter: { platforms: ['b'] } });
  const change = (set: { url: string } | { state: 'paused' }) => async () => {
    await env.context.db.updateTable('merchants').set(set).where('id', '=', merchant.id).execute();
    const before = shop.callsTo('/other').length;
    // a callback to another merchant proves that the loop has read the merchants since
    await env.applyTransaction(['paid'], { platform: 'b' });
    await eventually('another pass', () => shop.callsTo('/other').length > before);
  };
  shop.behaviours['/old'] = answerAfter(change({ url: `${shop.url}/new` }));
  shop.behaviours['/new'] = answerAfter(change({ state: 'paused' }));
  await env.applyTransaction(HISTORY, { platform: 'a' });
  await env.deliver();
  await eventually('held', async () => {
    const rows = await env.context.db.selectFrom('callbacks').select('seq').where('state', '=', 'held').execute();
    return rows.length === 1;
  });
  expect([shop.callsTo('/old').length, shop.callsTo('/new').length]).toEqual([1, 1]);
});

test('a successor waits for the Retry-After of another answer of its merchant', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  let refused = false;
  shop.behaviours['/a'] = (call) => {
    if (call.json.data.transaction.status !== 'denied')
      return answerAfter(() => eventually('refused', () => refused))(call, 1);
    return (_request, response) => {
      response.writeHead(429, { 'retry-after': '600' }).end(() => {
        refused = true;
      });
    };
  };
  await env.addMerchant(`${shop.url}/a`);
  await env.applyTransaction(HISTORY);
  await env.applyTransaction(['denied']);
  await env.deliver();
  await eventually('the first is delivered', async () => {
    const rows = await env.context.db.selectFrom('callbacks').select('seq').where('state', '=', 'delivered').execute();
    return rows.length === 1;
  });
  await eventually('the successor is released', async () => (await countLeased(env)) === 0);
  expect(shop.calls).toHaveLength(2);
});

test('a successor that is released while its predecessor is recorded is claimed in the next round', async () => {
  await using env = await openCallbackEnvironment();
  const { context } = env;
  await env.addMerchant('http://127.0.0.1:1/');
  for (let count = 0; count < 2; count++) await env.applyTransaction(['pending', 'paid']);
  const newest = (db: typeof context.db) => db.updateTable('callbacks').where('seq', '=', 4);
  const later = new Date(context.clock.now().getTime() + 60_000);
  await newest(context.db).set({ lease_holder: 'another', lease_until: later, next_attempt_at: later }).execute();
  const claimed = await claim(env);
  expect(sequences(claimed)).toEqual([[1, 2], [1]]);

  const recording = Promise.withResolvers<never>();
  const dispatcher = {
    ...(await openDispatcher(context, claimed, () => undefined)),
    prepareSuccessor: () => recording.promise,
  };
  const dispatched = await context.db.transaction().execute(async (trx) => {
    // the recorder has read who waits for the first two, and waits for the row of one of them
    await newest(trx).set({ step: 0 }).execute();
    const dispatching = dispatch(dispatcher, claimed);
    await waitForLockWaits(context);
    recording.reject(new Error('it can not be rendered'));
    await Promise.race([dispatching, waitForLockWaits(context, 2)]);
    expect(sequences(await claim(env))).toEqual([]);
    return { dispatching };
  });
  await dispatched.dispatching;
  await dispatcher.recorder.flushed();
  expect(sequences(await claim(env))).toEqual([[2]]);
});

test('a callback whose merchant got another address since the claim goes there, with the headers of that address', async () => {
  await using env = await openCallbackEnvironment();
  const { merchant } = await env.addMerchant('http://127.0.0.1:1/old', { headers: { 'x-key': 'old' } });
  await env.applyTransaction(['paid']);
  const claimed = await claim(env);
  const requests: string[] = [];
  const onRequest = (url: string, headers: Record<string, string>) => requests.push(`${url} ${headers['x-key']}`);
  const dispatcher = await openDispatcher(env.context, claimed, () => undefined, onRequest);
  await updateMerchant(env.context, merchant.id, { url: 'http://127.0.0.1:1/new', headers: { 'x-key': 'new' } });
  await dispatch({ ...dispatcher, prepareSuccessor: createPrepareSuccessor(env.context) }, claimed);
  expect(requests).toEqual(['http://127.0.0.1:1/new new']);
});

test.each([
  ['was removed', (context: Context, id: string) => removeMerchant(context, id)],
  ['fetches its events', (context: Context, id: string) => updateMerchant(context, id, { url: null })],
])('a callback whose merchant %s since the claim is released, and nothing is sent', async (_, change) => {
  await using env = await openCallbackEnvironment();
  const { merchant } = await env.addMerchant('http://127.0.0.1:1/');
  await env.addMerchant('http://127.0.0.1:1/there');
  await env.applyTransaction(['paid']);
  const claimed = await claim(env);
  const sent: string[] = [];
  const dispatcher = await openDispatcher(env.context, claimed, (body) => sent.push(body));
  await change(env.context, merchant.id);
  await dispatch({ ...dispatcher, prepareSuccessor: createPrepareSuccessor(env.context) }, claimed);
  await dispatcher.recorder.flushed();
  expect(sent).toHaveLength(1);
  const rows = await env.context.db.selectFrom('callbacks').select(['state', 'attempts', 'lease_holder']).execute();
  expect(rows.map(({ state, attempts }) => `${state} ${attempts}`).sort()).toEqual(['delivered 1', 'pending 0']);
  expect(rows.map((row) => row.lease_holder)).toEqual([null, null]);
});

test('a callback whose lease began long ago is released, and nothing is sent', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('http://127.0.0.1:1/');
  await env.applyTransaction(['paid']);
  const claimed = await claim(env);
  const sent: string[] = [];
  const dispatcher = await openDispatcher(env.context, claimed, (body) => sent.push(body));
  const longAgoMs = env.context.timers.monotonicMs() - 31_000;
  await dispatch(
    { ...dispatcher, prepareSuccessor: () => Promise.reject(new Error('there is none')) },
    claimed,
    longAgoMs,
  );
  expect(sent).toEqual([]);
  expect(sequences(await claim(env))).toEqual([[1]]);
});

/** Dispatches callbacks without a network: each is answered 200 at once. */
async function openDispatcher(
  context: Context,
  claimed: ClaimedCallback[],
  onSent: (body: string) => void,
  onRequest: (url: string, headers: Record<string, string>) => void = () => undefined,
) {
  const recorder = createRecorder(context, () => undefined, new AbortController().signal);
  const merchants = new Map((await readDeliveryMerchants(context)).map((merchant) => [merchant.seq, merchant]));
  const answer = { status: 200, errorClass: null, retryAfterMs: undefined, body: null, durationMs: 3 };
  const sender: Sender = {
    send: async (url, headers, body) => {
      onRequest(url, headers);
      onSent(body);
      return answer;
    },
    abort: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const slots = createSlots();
  for (const one of claimed) takeSlot(slots, one);
  return { context, sender, recorder, slots, merchants };
}

/** Answers the first call once `work` is done, and the others at once. */
function answerAfter(work: () => Promise<unknown>): Behaviour {
  return (_call, nth) => {
    if (nth > 1) return 200;
    return (_request, response) => void work().then(() => response.writeHead(200).end());
  };
}
