import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LEASE_MS } from '../../../src/callbacks/queue/claim-callbacks.ts';
import { offerSlots, type Taker } from '../../../src/callbacks/queue/claim-with-insert.ts';
import type { ClaimedCallback } from '../../../src/callbacks/queue/claimed-callback.ts';
import type { Context } from '../../../src/context.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { setMerchantState } from '../../../src/merchants/change-merchants.ts';
import type { WakeSignal } from '../../../src/runtime/wake-signal.ts';
import { eventually } from '../../support/eventually.ts';
import { holdReads, LOST, loseCommit, watchReads } from '../../support/failing-database.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type MerchantServer, openMerchantServer } from '../../support/open-merchant-server.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const HISTORY = ['pending', 'in_process', 'paid'];
const NOWHERE = 'http://127.0.0.1:1/';

type TestTaker = Taker & { taken: ClaimedCallback[]; reserved: number };

/** Has `free` slots for every merchant, and sends nothing. */
function createTaker(free: number): TestTaker {
  return {
    taken: [],
    reserved: 0,
    reserve() {
      if (this.reserved >= free) return false;
      this.reserved++;
      return true;
    },
    giveBack() {
      this.reserved--;
    },
    async take(claimed) {
      this.taken.push(...claimed);
    },
  };
}

const sequences = (claimed: ClaimedCallback[]): number[][] =>
  claimed.map((one) => [one, ...one.successors].map(({ sequence }) => sequence));

describe('a transaction that writes callbacks', () => {
  let env: CallbackEnvironment;
  let merchantId: string;
  beforeAll(async () => {
    env = await openCallbackEnvironment();
    const { merchant } = await env.addMerchant(NOWHERE);
    // until its backfill is done, it may lack older callbacks
    await runBackfills(env.context);
    merchantId = merchant.id;
  });
  afterAll(() => env[Symbol.asyncDispose]());
  beforeEach(() => env.context.db.deleteFrom('callbacks').execute());

  const readCallbacks = () =>
    env.context.db
      .selectFrom('callbacks')
      .select(['seq', 'sequence', 'state', 'lease_holder', 'lease_until', 'next_attempt_at'])
      .orderBy('seq')
      .execute();

  test('claims a new history as one chain, under a lease of this process', async () => {
    const taker = createTaker(1);
    using _ = offerSlots(env.context, taker);
    const beforeMs = env.context.clock.now().getTime();
    await env.applyTransaction(HISTORY);
    expect(sequences(taker.taken)).toEqual([[1, 2, 3]]);
    expect(taker.reserved).toBe(1);
    for (const row of await readCallbacks()) {
      expect(row).toMatchObject({ state: 'pending', lease_holder: env.context.holder });
      expect(row.lease_until?.getTime()).toBeGreaterThanOrEqual(beforeMs + LEASE_MS);
      expect(row.next_attempt_at).toEqual(row.lease_until);
    }
  });

  test('without a free slot leaves the first one due at once, and the rest waiting for it', async () => {
    const taker = createTaker(1);
    using _ = offerSlots(env.context, taker);
    await env.applyTransactions(2, ['pending', 'paid']);
    expect(sequences(taker.taken)).toEqual([[1, 2]]);
    const now = env.context.clock.now();
    const unclaimed = (await readCallbacks()).filter((row) => row.lease_holder === null);
    expect(unclaimed.map(({ sequence, next_attempt_at: dueAt }) => [sequence, (dueAt ?? 0) <= now])).toEqual([
      [1, true],
      [2, false],
    ]);
  });

  test('keeps a history in one chain, also where it takes two INSERTs', async () => {
    const taker = createTaker(167);
    using _ = offerSlots(env.context, taker);
    // the last callback is the 501st
    await env.applyTransactions(167, HISTORY);
    expect(taker.taken).toHaveLength(167);
    expect(new Set(sequences(taker.taken).map(String))).toEqual(new Set(['1,2,3']));
  });

  test('claims a later event once no older callback of its transaction is open', async () => {
    const taker = createTaker(9);
    using _ = offerSlots(env.context, taker);
    const paid = await env.applyTransaction(['pending']);
    await env.appendEvents(paid, ['in_process']);
    expect(sequences(taker.taken)).toEqual([[1]]);
    const ended = { state: 'delivered', next_attempt_at: null, lease_holder: null, lease_until: null };
    await env.context.db.updateTable('callbacks').set(ended).execute();
    await env.appendEvents(paid, ['paid']);
    expect(sequences(taker.taken)).toEqual([[1], [3]]);
  });

  test('claims nothing for a merchant that is paused, fetches its events, or may lack older ones', async () => {
    const taker = createTaker(9);
    using _ = offerSlots(env.context, taker);
    const { db } = env.context;
    const backfill = db.updateTable('backfills');
    const merchant = db.updateTable('merchants').where('id', '=', merchantId);
    await setMerchantState(env.context, merchantId, 'paused', 'operator');
    await env.applyTransaction(['paid']);
    await setMerchantState(env.context, merchantId, 'enabled', 'operator');
    await merchant.set({ url: null }).execute();
    await env.applyTransaction(['paid']);
    await merchant.set({ url: NOWHERE }).execute();
    await backfill.set({ state: 'running' }).execute();
    await env.applyTransaction(['paid']);
    await backfill.set({ state: 'done' }).execute();
    expect((await readCallbacks()).map((row) => row.lease_holder)).toEqual([null, null, null]);
    expect([taker.taken, taker.reserved]).toEqual([[], 0]);
  });

  test('gives its slots back when it is rolled back, and claims anew when it is tried again', async () => {
    let failures = 0;
    // reports are read after the callbacks are written
    const context = watchReads(env.context, 'reports', () => {
      if (failures++ === 0) throw LOST;
    });
    const taker = createTaker(1);
    using _ = offerSlots(context, taker);
    await applyObservations(context, [observeNow(context, makeShownTransaction(['pending@0', 'paid@1']))]);
    expect(failures).toBe(2);
    expect(sequences(taker.taken)).toEqual([[1, 2]]);
    expect(taker.reserved).toBe(1);
    // those of the attempt that was committed
    const taken = taker.taken.flatMap((one) => [one.seq, ...one.successors.map(({ seq }) => seq)]);
    const rows = await readCallbacks();
    expect(rows.map((row) => [row.seq, row.lease_holder])).toEqual(taken.map((seq) => [seq, context.holder]));
  });

  test('gives its slots back when the answer of its COMMIT is lost, and leaves its callbacks to their lease', async () => {
    const context = loseCommit(env.context, 'callbacks');
    const taker = createTaker(1);
    using _ = offerSlots(context, taker);
    await applyObservations(context, [observeNow(context, makeShownTransaction(['paid@0']))]);
    expect([taker.taken, taker.reserved]).toEqual([[], 0]);
    const [row] = await readCallbacks();
    expect(row).toMatchObject({ state: 'pending', lease_holder: context.holder });
    expect(row?.next_attempt_at).toEqual(row?.lease_until);
  });
});

describe('a delivery in the process that writes callbacks', () => {
  let shop: MerchantServer;
  beforeAll(async () => {
    shop = await openMerchantServer();
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  /** With a delivery that has read its merchants, and waits. @param own the environment, and the context of its delivery. */
  async function openDelivering(path: string, own?: { env: CallbackEnvironment; context: Context }) {
    const env = own?.env ?? (await openCallbackEnvironment());
    const { merchant } = await env.addMerchant(`${shop.url}${path}`);
    await runBackfills(env.context);
    const delivery = env.deliverHere(own?.context);
    await env.applyTransaction(['pending']);
    await env.advanceUntil('the first callback is delivered', async () => (await countOpen(env)) === 0);
    return { env, merchant, delivery };
  }

  const readOpen = (env: CallbackEnvironment) =>
    env.context.db.selectFrom('callbacks').select('lease_holder').where('state', '=', 'pending').execute();
  const countOpen = async (env: CallbackEnvironment): Promise<number> => (await readOpen(env)).length;

  /** Waits until a loop has no round in progress and no timer that is due: it waits for its signal. */
  async function awaitRest(wakeUp: WakeSignal): Promise<void> {
    const wait = wakeUp.wait.bind(wakeUp);
    let waiting = 0;
    wakeUp.wait = async (...args) => {
      waiting++;
      try {
        return await wait(...args);
      } finally {
        waiting--;
      }
    };
    // a wait that began before is not counted: this ends it
    wakeUp.notify();
    await eventually('the loop waits', () => waiting > 0);
  }

  test('sends a history in order and once, without a round of its loop', async () => {
    const { env } = await openDelivering('/order');
    await using _ = env;
    const { callbacks } = env.context.wakeUps;
    // a round by the time, while an answer arrives, would ask for another
    env.timers.freeze();
    await awaitRest(callbacks);
    let rounds = 0;
    const notify = callbacks.notify.bind(callbacks);
    callbacks.notify = () => {
      rounds++;
      notify();
    };
    const { id } = await env.applyTransaction(HISTORY);
    const mine = () => shop.callsTo('/order').filter((call) => call.json.data.transaction.id === id);
    await eventually('the history arrives', () => mine().length === HISTORY.length);
    expect(mine().map(({ json }) => json.data.transaction.status)).toEqual(HISTORY);
    expect(rounds).toBe(0);
  });

  test('claims as many as its limit has slots for, and sends the rest as answers arrive', async () => {
    const { env } = await openDelivering('/slow');
    await using _ = env;
    const held: ServerResponse[] = [];
    shop.behaviours['/slow'] = () => (_request, response) => void held.push(response);
    await env.applyTransactions(40, ['pending']);
    // it starts with 8, and the one answer before added one
    const leased = (await readOpen(env)).filter((row) => row.lease_holder !== null);
    expect(leased).toHaveLength(9);
    await eventually('these are sent', () => held.length === 9);
    shop.behaviours['/slow'] = () => 200;
    for (const response of held) response.writeHead(200).end();
    await env.advanceUntil('all are delivered', async () => (await countOpen(env)) === 0);
    const ids = shop.callsTo('/slow').map((call) => call.headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([41, 41]);
  });

  test('keeps to its limit where its loop claims while a transaction writes callbacks', async () => {
    const own = await openCallbackEnvironment();
    const claiming = holdReads(own.context, 'callbacks');
    const { env } = await openDelivering('/both', { env: own, context: claiming.context });
    await using _ = env;
    const held: ServerResponse[] = [];
    shop.behaviours['/both'] = () => (_request, response) => void held.push(response);
    claiming.hold();
    // written as by another process, these are left to the loop
    await env.applyTransactions(40, ['pending']);
    await env.advanceUntil('the loop claims', () => claiming.held() > 0);
    await applyObservations(
      claiming.context,
      Array.from({ length: 40 }, () => observeNow(env.context, makeShownTransaction(['pending@0']))),
    );
    claiming.release();
    await eventually('as many are sent as the limit allows', () => held.length >= 9);
    const leased = (await readOpen(env)).filter((row) => row.lease_holder !== null);
    expect([leased.length, held.length]).toEqual([9, 9]);
    shop.behaviours['/both'] = () => 200;
    for (const response of held) response.writeHead(200).end();
    await env.advanceUntil('all are delivered', async () => (await countOpen(env)) === 0);
    const ids = shop.callsTo('/both').map((call) => call.headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([81, 81]);
  });

  test('after a merchant was paused, sends nothing more to it', async () => {
    const { env, merchant } = await openDelivering('/paused');
    await using _ = env;
    await setMerchantState(env.context, merchant.id, 'paused', 'operator');
    const { id } = await env.applyTransaction(HISTORY);
    const rows = await env.context.db.selectFrom('callbacks').select(['state', 'lease_holder']).execute();
    expect(rows.filter((row) => row.state === 'held' && row.lease_holder === null)).toHaveLength(HISTORY.length);
    await setMerchantState(env.context, merchant.id, 'enabled', 'operator');
    await env.advanceUntil(
      'it gets them once it is enabled',
      () => shop.callsTo('/paused').filter((call) => call.json.data.transaction.id === id).length === HISTORY.length,
    );
  });

  test('releases what it may not send at once, and sends it by its rules', async () => {
    const { env, merchant } = await openDelivering('/rated');
    await using _ = env;
    // the loop has not read this yet
    await env.context.db.updateTable('merchants').set({ rate: 1 }).where('seq', '=', merchant.seq).execute();
    const shown = HISTORY.map(() => observeNow(env.context, makeShownTransaction(['pending@0'])));
    await applyObservations(env.context, shown);
    await eventually('they are released', async () => (await readOpen(env)).every((row) => row.lease_holder === null));
    // the release wakes the loop, which may have sent the one that the rate allows
    expect(shop.callsTo('/rated').length).toBeLessThanOrEqual(2);
    await env.advanceUntil('they are delivered', async () => (await countOpen(env)) === 0);
    expect(new Set(shop.callsTo('/rated').map(({ json }) => json.data.transaction.id)).size).toBe(1 + HISTORY.length);
    expect(shop.callsTo('/rated')).toHaveLength(1 + HISTORY.length);
  });

  /** The context of a delivery whose transactions wait before their commit while `commits` holds. */
  async function openHolding(path: string) {
    const own = await openCallbackEnvironment();
    // reports are read after the callbacks are written
    const commits = holdReads(own.context, 'reports');
    const { env, delivery } = await openDelivering(path, { env: own, context: commits.context });
    commits.hold();
    const applying = applyObservations(commits.context, [
      observeNow(env.context, makeShownTransaction(['pending@0', 'paid@1'])),
    ]);
    await eventually('its transaction waits', () => commits.held() > 0);
    return { env, delivery, commits, applying };
  }

  test('stopped before a commit, leaves its callbacks due at once for the next process', async () => {
    const { env, delivery, commits, applying } = await openHolding('/stopping');
    await using _ = env;
    await delivery.stop();
    commits.release();
    await applying;
    expect((await readOpen(env)).map((row) => row.lease_holder)).toEqual([null, null]);
    expect(shop.callsTo('/stopping')).toHaveLength(1);
    await env.deliver();
    await env.advanceUntil('they are delivered', async () => (await countOpen(env)) === 0);
    expect(shop.callsTo('/stopping')).toHaveLength(3);
  });

  test('leaves callbacks to a lease that might end during an attempt, after a slow commit', async () => {
    const { env, commits, applying } = await openHolding('/late');
    await using _ = env;
    await env.timers.advance(LEASE_MS - 20_000);
    commits.release();
    await applying;
    for (let second = 0; second < 10; second++) await env.timers.advance(1_000);
    expect((await readOpen(env)).map((row) => row.lease_holder)).toEqual([env.context.holder, env.context.holder]);
    expect(shop.callsTo('/late')).toHaveLength(1);
    await env.advanceUntil('they are delivered after it', async () => (await countOpen(env)) === 0);
    const statuses = shop.callsTo('/late').map(({ json }) => json.data.transaction.status);
    expect(statuses).toEqual(['pending', 'pending', 'paid']);
  });

  test('offers nothing once it has stopped', async () => {
    await using env = await openCallbackEnvironment();
    await env.addMerchant(`${shop.url}/stopped`);
    await runBackfills(env.context);
    const delivery = env.deliverHere();
    await env.applyTransaction(['pending']);
    await env.advanceUntil('the first is delivered', async () => (await countOpen(env)) === 0);
    await delivery.stop();
    await env.applyTransaction(HISTORY);
    expect((await readOpen(env)).map((row) => row.lease_holder)).toEqual([null, null, null]);
    expect(shop.callsTo('/stopped')).toHaveLength(1);
  });
});
