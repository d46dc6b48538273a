import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { recordAttempts } from '../../../src/callbacks/deliver/record-attempts.ts';
import type { Attempt } from '../../../src/callbacks/deliver/send-attempt.ts';
import { claimCallbacks, claimProbe } from '../../../src/callbacks/queue/claim-callbacks.ts';
import { readDeliveryMerchants } from '../../../src/callbacks/queue/read-delivery-merchants.ts';
import { transact } from '../../../src/database/transact.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { removeMerchant } from '../../../src/merchants/change-merchants.ts';
import { countTrips } from '../../support/count-trips.ts';
import { eventually } from '../../support/eventually.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

test('attempts whose commit was answered to nobody are recorded once, however often that is tried again', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('http://127.0.0.1:1/');
  await env.applyTransaction(['paid']);
  await env.applyTransaction(['paid']);
  const { context } = env;
  const [merchant] = await readDeliveryMerchants(context);
  const claimed = merchant ? (await claimCallbacks(context, [{ merchant, slots: 10 }], new Set())).claimed : [];
  const attempts = claimed.map((callback, index): Attempt => {
    const failed = { status: 500, errorClass: 'http_status' as const, retryAfterMs: undefined };
    const taken = { status: 200, errorClass: null, retryAfterMs: undefined };
    const response = { ...(index === 0 ? taken : failed), body: null, durationMs: 3 };
    return { callback, startedAt: context.clock.now(), merchantHeaders: [], response };
  });
  await recordAttempts(context, attempts);
  await recordAttempts(context, attempts, { mayBeWritten: true });
  const [first, second] = attempts;
  // one that is new goes in beside what is written already
  const later = second && { ...second, startedAt: new Date(second.startedAt.getTime() + 60_000) };
  if (first && later) await recordAttempts(context, [first, later], { mayBeWritten: true });
  const rows = await context.db.selectFrom('callback_attempts').select('callback_seq').orderBy('seq').execute();
  expect(rows.map((row) => row.callback_seq)).toEqual([1, 2, 2]);
  const callbacks = await context.db.selectFrom('callbacks').select(['state', 'attempts']).orderBy('seq').execute();
  // the lease of the last try was not ours any more: it is on record, and its callback goes on as it stands
  expect(callbacks).toEqual([
    { state: 'delivered', attempts: 1 },
    { state: 'pending', attempts: 1 },
  ]);
  const { failures } = await context.db.selectFrom('merchants').select('failures').executeTakeFirstOrThrow();
  expect(failures).toBe(2);
});

test('what merchants took while the database was away is recorded once it is back, and not sent again', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  await env.addMerchant(`${shop.url}/a`);
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', fatal: true });
  let isAway = true;
  let refusals = 0;
  const ledgerDb = new Proxy(env.context.ledgerDb, {
    get(db, key) {
      const value: unknown = Reflect.get(db, key);
      if (key !== 'transaction') return value;
      if (!isAway) return db.transaction.bind(db);
      refusals++;
      throw refused;
    },
  });
  env.deliverHere({ ...env.context, ledgerDb });
  await env.applyTransactions(2, ['paid']);
  await env.advanceUntil('the database refuses', () => refusals >= 10);
  isAway = false;
  const readStates = () => env.context.db.selectFrom('callbacks').select(['state', 'attempts']).execute();
  await env.advanceUntil('both are recorded', async () =>
    (await readStates()).every(({ state }) => state === 'delivered'),
  );
  expect(await readStates()).toEqual([1, 1].map((attempts) => ({ state: 'delivered', attempts })));
  expect(shop.callsTo('/a')).toHaveLength(2);
});

test('a payment is applied in seven round trips, and its attempt recorded in three', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('http://127.0.0.1:1/');
  const { context } = env;
  const apply = async () => {
    const row = makeShownTransaction(['paid@1'], { id: randomUUID(), reference: randomUUID() });
    await applyObservations(context, [observeNow(context, row)]);
  };
  await context.db.updateTable('backfills').set({ state: 'done' }).execute();
  // the accounts are known after it
  await apply();
  // seven: the first asks whether the transaction is known, as for a list
  expect(await countTrips(apply)).toBe(7);
  const [merchant] = await readDeliveryMerchants(context);
  const { claimed } = await claimCallbacks(context, merchant ? [{ merchant, slots: 10 }] : [], new Set());
  const response = { status: 200, errorClass: null, retryAfterMs: undefined, body: null, durationMs: 3 };
  const attempts = claimed.map((callback) => ({
    callback,
    startedAt: context.clock.now(),
    merchantHeaders: [],
    response,
  }));
  expect(await countTrips(() => recordAttempts(context, attempts))).toBe(3);
});

test('the removal of a failing merchant ends the alerts about it', async () => {
  await using env = await openCallbackEnvironment();
  const { merchant } = await env.addMerchant('http://127.0.0.1:1/');
  const over: string[] = [];
  await env.deliver({ onRecovery: (id) => void over.push(id) });
  await removeMerchant(env.context, merchant.id);
  await eventually('reported', () => over.length > 0);
  expect(over).toEqual([merchant.id]);
});

test('a probe whose callback is locked is sent in the next round, not 5 minutes later', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('http://127.0.0.1:1/');
  await env.applyTransaction(['paid']);
  const { db } = env.context;
  await db.updateTable('callbacks').set({ state: 'held' }).execute();
  const longAgo = new Date(env.context.clock.now().getTime() - 3_600_000);
  await db.updateTable('merchants').set({ failing_since: longAgo, breaker_opened_at: longAgo }).execute();
  const [merchant] = await readDeliveryMerchants(env.context);
  if (!merchant) throw new Error('no merchant');
  expect(merchant.probeIsDue).toBe(true);
  await transact(db, async (trx) => {
    await trx.selectFrom('callbacks').select('seq').forUpdate().execute();
    expect(await claimProbe(env.context, merchant, new Set())).toEqual([]);
  });
  expect(await claimProbe(env.context, merchant, new Set())).toMatchObject([{ isProbe: true }]);
  expect(await claimProbe(env.context, merchant, new Set())).toEqual([]);
});

test('a callback that is deferred while its predecessor is recorded becomes due, also after the lease of a dead process', async () => {
  await using env = await openCallbackEnvironment();
  await env.addMerchant('http://127.0.0.1:1/');
  await env.applyTransaction(['pending', 'paid']);
  const { context } = env;
  const [merchant] = await readDeliveryMerchants(context);
  if (!merchant) throw new Error('no merchant');
  const second = (db: typeof context.db) => db.updateTable('callbacks').where('sequence', '=', 2);
  const past = new Date(context.clock.now().getTime() - 1_000);
  await second(context.db).set({ lease_holder: 'dead', lease_until: past, next_attempt_at: past }).execute();
  const { claimed } = await claimCallbacks(context, [{ merchant, slots: 10 }], new Set([2]));
  const response = { status: 200, errorClass: null, retryAfterMs: undefined, body: null, durationMs: 3 };
  const attempts = claimed.map((callback) => ({ callback, startedAt: past, merchantHeaders: [], response }));
  expect(attempts.map(({ callback }) => callback.sequence)).toEqual([1]);
  // another process's claim, which read before the first was recorded
  const later = new Date(context.clock.now().getTime() + 60_000);
  const held = Promise.withResolvers<void>();
  const recorded = await context.db.transaction().execute(async (trx) => {
    await second(trx).set({ lease_holder: null, lease_until: null, next_attempt_at: later }).execute();
    const recording = recordAttempts(context, attempts).finally(held.resolve);
    await Promise.race([held.promise, waitForLockWaits(context)]);
    return { recording };
  });
  expect(await recorded.recording).toEqual({ woken: 1 });
  const row = await context.db.selectFrom('callbacks').select('next_attempt_at').where('sequence', '=', 2).execute();
  expect(row[0]?.next_attempt_at?.getTime()).toBeLessThan(later.getTime());
});
