import { createSecretKey } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { dispatch } from '../../../src/callbacks/deliver/dispatch.ts';
import { createRecorder } from '../../../src/callbacks/deliver/recorder.ts';
import type { Sender } from '../../../src/callbacks/deliver/send-attempt.ts';
import { claimCallbacks } from '../../../src/callbacks/queue/claim-callbacks.ts';
import type { ClaimedCallback } from '../../../src/callbacks/queue/claimed-callback.ts';
import { readDeliveryMerchants } from '../../../src/callbacks/queue/read-delivery-merchants.ts';
import { createSlots, takeSlot } from '../../../src/callbacks/queue/slots.ts';
import type { Context } from '../../../src/context.ts';
import { rotateSecret } from '../../../src/merchants/secrets.ts';
import { eventually } from '../../support/eventually.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type Behaviour, openMerchantServer } from '../../support/open-merchant-server.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

const HISTORY = ['pending', 'in_process', 'paid'];

async function claim(world: CallbackEnvironment): Promise<ClaimedCallback[]> {
  const merchants = await readDeliveryMerchants(world.context);
  const wants = merchants.map((merchant) => ({ merchant, slots: 10 }));
  return (await claimCallbacks(world.context, wants, new Set())).claimed;
}

const sequences = (claimed: ClaimedCallback[]): number[][] =>
  claimed.map((one) => [one, ...one.successors].map(({ sequence }) => sequence));

/** Of those that follow another. */
async function countLeased(world: CallbackEnvironment): Promise<number> {
  const rows = await world.context.db
    .selectFrom('callbacks')
    .select('seq')
    .where('sequence', '>', 1)
    .where('lease_holder', 'is not', null)
    .execute();
  return rows.length;
}

test('a history that was learnt at once is claimed at once, for each merchant its own', async () => {
  await using world = await openCallbackEnvironment();
  await world.addMerchant('http://127.0.0.1:1/a');
  await world.addMerchant('http://127.0.0.1:1/b');
  await world.applyTransaction(HISTORY);
  await world.applyTransaction(['paid']);
  expect(sequences(await claim(world)).sort((a, b) => a.length - b.length)).toEqual([[1], [1], [1, 2, 3], [1, 2, 3]]);
  // nothing is left to claim: all of it is leased
  expect(await claim(world)).toEqual([]);
});

test('of a merchant with a rate each is claimed by itself', async () => {
  await using world = await openCallbackEnvironment();
  await world.addMerchant('http://127.0.0.1:1/', { rate: 1 });
  await world.applyTransaction(HISTORY);
  expect(sequences(await claim(world))).toEqual([[1]]);
});

test('none follows that another process holds, that failed before, or that comes after such a one', async () => {
  await using world = await openCallbackEnvironment();
  await world.addMerchant('http://127.0.0.1:1/');
  await world.applyTransaction(HISTORY);
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
  await using world = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  shop.behaviours['/a'] = (_call, nth) => (nth === 1 ? 500 : 200);
  await world.addMerchant(`${shop.url}/a`);
  await world.applyTransaction(HISTORY);
  await world.deliver();
  await eventually('the first has failed', () => shop.calls.length > 0);
  await eventually('the others are given back', async () => (await countLeased(world)) === 0);
  await world.advanceUntil('all delivered', () => shop.acceptedCalls('/a').length === 3);
  expect(shop.calls.map((call) => call.json.data.transaction.sequence)).toEqual([1, 1, 2, 3]);
});

test('merchants that hang, with many successors, leave slots to another merchant', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  shop.behaviours['/hang'] = () => 'hangs';
  const filter = { platforms: ['hangs'] };
  for (let count = 0; count < 64; count++) await world.addMerchant(`${shop.url}/hang`, { filter });
  const history = ['pending', 'in_process', 'in_analysis', 'paid', 'refund', 'paid'];
  await world.applyTransactions(8, history, { platform: 'hangs' });
  await world.addMerchant(`${shop.url}/well`, { filter: { platforms: ['well'] } });
  // in frozen time no attempt times out: a delivery that waits for one that hangs never ends, and the test fails
  world.timers.freeze();
  await world.deliver();
  await eventually('all their slots are taken', () => shop.callsTo('/hang').length === 64 * 8);
  await world.applyTransaction(['paid'], { platform: 'well' });
  await eventually('the other merchant is delivered to', () => shop.callsTo('/well').length === 1);
});

test('what follows tells nothing of a person who is forgotten meanwhile', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const change = world.context.db.updateTable('parties').set({ name: null, forgotten_at: new Date() });
  shop.behaviours['/a'] = answerAfter(() => change.execute());
  await world.addMerchant(`${shop.url}/a`);
  await world.applyTransaction(HISTORY, { name: 'Joana Esquecida' });
  await world.deliver();
  await eventually('all', () => shop.callsTo('/a').length === 3);
  expect(shop.callsTo('/a').map((call) => call.body.includes('Joana'))).toEqual([true, false, false]);
});

test('what follows is signed with the secret of its own turn', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { merchant, secret } = await world.addMerchant(`${shop.url}/a`);
  let newSecret = '';
  shop.behaviours['/a'] = answerAfter(async () => {
    ({ secret: newSecret } = await rotateSecret(world.context, merchant.id));
  });
  await world.applyTransaction(['pending', 'paid']);
  await world.deliver();
  await eventually('both', () => shop.callsTo('/a').length === 2);
  const signatures = shop.callsTo('/a').map((call) => String(call.headers['webhook-signature']).split(' ').length);
  expect(signatures).toEqual([1, 2]);
  const [, second] = shop.callsTo('/a');
  const verify = (key: string) =>
    new Webhook(key).verify(second?.body ?? '', second?.headers as Record<string, string>);
  for (const key of [secret, newSecret]) expect(verify(key)).toMatchObject({ type: 'pix.cashin.paid' });
});

test('what follows is not sent where its merchant was paused, or its claim grew old, while it was prepared', async () => {
  await using world = await openCallbackEnvironment();
  const { context } = world;
  await world.addMerchant('http://127.0.0.1:1/');
  await world.applyTransaction(['pending', 'paid']);
  const claimed = await claim(world);
  expect(sequences(claimed)).toEqual([[1, 2]]);
  const sent: string[] = [];
  const desk = await openDesk(context, claimed, (body) => sent.push(body));
  const prepareNext = async () => {
    for (const [seq, merchant] of desk.merchants) desk.merchants.set(seq, { ...merchant, holdsBack: true });
    return { body: {}, keys: [createSecretKey(Buffer.alloc(32))] };
  };
  await dispatch({ ...desk, prepareSuccessor: prepareNext }, claimed);
  await desk.recorder.flushed();
  expect(sent).toHaveLength(1);
  expect(await countLeased(world)).toBe(0);
});

test('what follows goes to the new address of a merchant, and waits with one that is paused', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { merchant } = await world.addMerchant(`${shop.url}/old`, { filter: { platforms: ['a'] } });
  await world.addMerchant(`${shop.url}/other`, { filter: { platforms: ['b'] } });
  const change = (set: { url: string } | { state: 'paused' }) => async () => {
    await world.context.db.updateTable('merchants').set(set).where('id', '=', merchant.id).execute();
    const before = shop.callsTo('/other').length;
    // what another merchant is sent proves that merchants were looked at since
    await world.applyTransaction(['paid'], { platform: 'b' });
    await eventually('a look', () => shop.callsTo('/other').length > before);
  };
  shop.behaviours['/old'] = answerAfter(change({ url: `${shop.url}/new` }));
  shop.behaviours['/new'] = answerAfter(change({ state: 'paused' }));
  await world.applyTransaction(HISTORY, { platform: 'a' });
  await world.deliver();
  await eventually('held', async () => {
    const rows = await world.context.db.selectFrom('callbacks').select('seq').where('state', '=', 'held').execute();
    return rows.length === 1;
  });
  expect([shop.callsTo('/old').length, shop.callsTo('/new').length]).toEqual([1, 1]);
});

test('what follows waits as long as another answer of its merchant asks for', async () => {
  await using world = await openCallbackEnvironment();
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
  await world.addMerchant(`${shop.url}/a`);
  await world.applyTransaction(HISTORY);
  await world.applyTransaction(['denied']);
  await world.deliver();
  await eventually('the first is delivered', async () => {
    const rows = await world.context.db
      .selectFrom('callbacks')
      .select('seq')
      .where('state', '=', 'delivered')
      .execute();
    return rows.length === 1;
  });
  await eventually('what follows it is given back', async () => (await countLeased(world)) === 0);
  expect(shop.calls).toHaveLength(2);
});

test('what is given back just as the one before it is recorded is claimed at the next look', async () => {
  await using world = await openCallbackEnvironment();
  const { context } = world;
  await world.addMerchant('http://127.0.0.1:1/');
  for (let count = 0; count < 2; count++) await world.applyTransaction(['pending', 'paid']);
  const newest = (db: typeof context.db) => db.updateTable('callbacks').where('seq', '=', 4);
  const later = new Date(context.clock.now().getTime() + 60_000);
  await newest(context.db).set({ lease_holder: 'another', lease_until: later, next_attempt_at: later }).execute();
  const claimed = await claim(world);
  expect(sequences(claimed)).toEqual([[1, 2], [1]]);

  const recording = Promise.withResolvers<never>();
  const desk = { ...(await openDesk(context, claimed, () => undefined)), prepareSuccessor: () => recording.promise };
  const dispatched = await context.db.transaction().execute(async (trx) => {
    // the recorder has read who waits for the first two, and waits for the row of one of them
    await newest(trx).set({ step: 0 }).execute();
    const dispatching = dispatch(desk, claimed);
    await waitForLockWaits(context);
    recording.reject(new Error('it can not be rendered'));
    await Promise.race([dispatching, waitForLockWaits(context, 2)]);
    expect(sequences(await claim(world))).toEqual([]);
    return { dispatching };
  });
  await dispatched.dispatching;
  await desk.recorder.flushed();
  expect(sequences(await claim(world))).toEqual([[2]]);
});

/** What dispatches these without a network: each is answered 200 at once. */
async function openDesk(context: Context, claimed: ClaimedCallback[], onSent: (body: string) => void) {
  const recorder = createRecorder(context, () => undefined, new AbortController().signal);
  const merchants = new Map((await readDeliveryMerchants(context)).map((merchant) => [merchant.seq, merchant]));
  const answer = { status: 200, errorClass: null, retryAfterMs: undefined, body: null, durationMs: 3 };
  const sender: Sender = {
    send: async (_url, _headers, body) => {
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
