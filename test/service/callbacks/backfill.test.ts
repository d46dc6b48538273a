import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readPage } from '../../../src/callbacks/backfill/read-page.ts';
import type { Context } from '../../../src/context.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { createMerchant, setMerchantState, updateMerchant } from '../../../src/merchants/change-merchants.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { countReads } from '../../support/count-reads.ts';
import { eventually } from '../../support/eventually.ts';
import { observe } from '../../support/make-observations.ts';
import { openApi } from '../../support/open-api.ts';
import { type AppliedTransaction, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type Call, openMerchantServer } from '../../support/open-merchant-server.ts';
import { numRuns } from '../../support/property.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const LONG_AGO = '2020-01-01T00:00:00Z';
/** More than one page of a backfill has. */
const COUNT = numRuns(110, 300);
/** Transactions of a backfill whose worker is killed between its pages, twice. */
const KILLED = numRuns(400, 1_000);
const HISTORY = ['pending', 'in_process', 'paid'];

type Shown = {
  id: string;
  callbacks: number;
  complete: boolean;
  backfill: { state: string; from: string; done: number; enqueued: number; finished_at: string | null };
};

/** Each transaction's events came once, in the order of their numbers. */
function expectOnceInOrder(calls: Call[], payments: AppliedTransaction[], sequences = [1, 2, 3]): void {
  const byPayment = Map.groupBy(calls, (call) => call.json.data.transaction.id);
  for (const { id } of payments) {
    expect(byPayment.get(id)?.map((call) => call.json.data.transaction.sequence)).toEqual(sequences);
  }
  expect(new Set(calls.map((call) => call.headers['webhook-id'])).size).toBe(calls.length);
}

async function readWebhookIds({ db }: Context, merchantId: string): Promise<string[]> {
  const merchant = await findMerchant(db, merchantId);
  const rows = await db
    .selectFrom('callbacks')
    .select('webhook_id')
    .where('merchant_seq', '=', merchant.seq)
    .orderBy('seq')
    .execute();
  return rows.map((row) => row.webhook_id);
}

test('a merchant with events_since in the past gets each past event once, in order, and a dry run counts them first', async () => {
  await using env = await openCallbackEnvironment();
  const call = await openApi(env);
  await using shop = await openMerchantServer();
  const payments = await env.applyTransactions(COUNT, HISTORY);
  await env.applyTransactions(3, HISTORY, { operation: 'cashout' });
  const input = { name: 'Loja', url: `${shop.url}/a`, events_since: LONG_AGO, filter: { operations: ['cashin'] } };
  const counted = await call<Shown>('POST', '/merchants', { ...input, dry_run: true });
  expect(counted).toMatchObject({ status: 200, json: { dry_run: true, callbacks: 3 * COUNT, complete: true } });
  expect((await call<{ merchants: [] }>('GET', '/merchants')).json.merchants).toEqual([]);

  const { json: added } = await call<Shown>('POST', '/merchants', input);
  expect(added.backfill).toMatchObject({ state: 'waiting', done: 0, enqueued: 0 });
  await env.deliver();
  await runBackfills(env.context);
  await eventually('all', () => shop.calls.length === 3 * COUNT);
  expectOnceInOrder(shop.calls, payments);
  const { json: shown } = await call<Shown>('GET', `/merchants/${added.id}`);
  expect(shown.backfill).toMatchObject({
    state: 'done',
    done: COUNT + 3,
    enqueued: 3 * COUNT,
    from: '2020-01-01T00:00:00.000Z',
  });
  expect(shown.backfill.finished_at).not.toBeNull();
});

test('moving events_since back or widening the filter sends only what is missing; narrowing it sends nothing', async () => {
  await using env = await openCallbackEnvironment();
  const call = await openApi(env);
  await using shop = await openMerchantServer();
  const past = await env.applyTransactions(5, HISTORY, { reference: 'a-1' });
  const { merchant } = await env.addMerchant(`${shop.url}/a`, {
    eventsSince: new Date(env.context.clock.now().getTime() + 3_600_000),
    filter: { statuses: ['paid'] },
  });
  await env.deliver();
  await runBackfills(env.context);
  expect(shop.calls).toEqual([]);
  const address = `/merchants/${merchant.id}`;
  const back = { events_since: LONG_AGO };
  expect((await call<Shown>('PATCH', address, { ...back, dry_run: true })).json.callbacks).toBe(5);
  expect((await call<Shown>('GET', address)).json.backfill.state, 'a dry run starts nothing').toBe('done');
  await call('PATCH', address, back);
  await runBackfills(env.context);
  await eventually('the paid ones', () => shop.calls.length === 5);

  const wider = { filter: { statuses: ['paid', 'pending'] } };
  expect((await call<Shown>('PATCH', address, { ...wider, dry_run: true })).json.callbacks).toBe(5);
  await call('PATCH', address, wider);
  await runBackfills(env.context);
  await eventually('the pending ones', () => shop.calls.length === 10);
  expect(shop.calls.slice(5).every(({ json }) => json.type === 'pix.cashin.pending')).toBe(true);

  const { json: before } = await call<Shown>('GET', address);
  const narrower = { filter: { statuses: ['paid'], reference_prefixes: ['a-'] }, events_since: '2021-01-01T00:00:00Z' };
  const { json: after } = await call<Shown>('PATCH', address, narrower);
  expect(after.backfill).toEqual(before.backfill);
  expect(new Set(shop.calls.map((one) => one.headers['webhook-id'])).size).toBe(10);
  expect(past).toHaveLength(5);
});

test('a backfill whose worker is killed between its pages is finished by another, with the same ids', async () => {
  await using env = await openCallbackEnvironment();
  const { context } = env;
  const { merchant: there } = await createMerchant(context, { name: 'x', url: null, eventsSince: new Date(LONG_AGO) });
  await env.applyTransactions(KILLED, ['pending', 'paid']);
  const { merchant } = await createMerchant(context, { name: 'y', url: null, eventsSince: new Date(LONG_AGO) });
  const enqueued = async () => (await findMerchant(context.db, merchant.id)).enqueued ?? 0;
  for (const least of [1, 200]) {
    const child = fork(fileURLToPath(new URL('backfill-child.ts', import.meta.url)), {
      env: { ...process.env, ...env.env },
    });
    await once(child, 'message');
    await eventually('some', async () => (await enqueued()) >= least);
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
  expect((await findMerchant(context.db, merchant.id)).backfill_state).toBe('running');
  await Promise.all([runBackfills(context), runBackfills(await env.replica())]);
  const ids = await readWebhookIds(context, merchant.id);
  expect(ids).toHaveLength(2 * KILLED);
  expect(new Set(ids).size).toBe(2 * KILLED);
  expect(await enqueued()).toBe(2 * KILLED);
  expect(await readWebhookIds(context, there.id)).toHaveLength(2 * KILLED);
});

test('a new event is sent before the backfill of other transactions, and after the older events of its own', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const payments = await env.applyTransactions(150, ['pending']);
  const last = payments.at(-1);
  if (!last) throw new Error('nothing was paid');
  env.timers.freeze();
  const { merchant } = await env.addMerchant(`${shop.url}/a`, { rate: 10 });
  await runBackfills(env.context, async () => {
    await env.timers.advance(100);
    return (await findMerchant(env.context.db, merchant.id)).backfill_state === 'done';
  });
  expect(await readWebhookIds(env.context, merchant.id)).toHaveLength(150);
  await env.deliver();
  await env.advanceUntil('some', () => shop.calls.length >= 20);
  await env.appendEvents(last, ['paid']);
  const fresh = await env.applyTransaction(['pending']);
  const sent = shop.calls.length;
  await env.advanceUntil(
    'the new ones',
    () =>
      shop.calls.some(({ json }) => json.data.transaction.id === fresh.id) &&
      shop.calls.some(({ json }) => json.data.transaction.id === last.id && json.data.transaction.status === 'paid'),
  );
  // those that were granted before, and at most a few besides the three
  expect(shop.calls.length - sent).toBeLessThan(15);
  await env.advanceUntil('all', () => shop.calls.length === 152);
  expectOnceInOrder(shop.calls, [last], [1, 2]);
});

test('an event that a writer was applying while the merchant was added is not missed', async () => {
  await using env = await openCallbackEnvironment();
  const { context } = env;
  const paid = await env.applyTransaction(['pending']);
  paid.shown.events.unshift({ status: 'paid', date_created: paid.shown.date_created });
  paid.shown.status = 'paid';
  const { merchant, ended } = await context.db.transaction().execute(async (trx) => {
    await applyObservations({ ...context, db: trx, ledgerDb: trx }, [observe(paid.shown, context.clock.now())]);
    const added = await createMerchant(context, { name: 'x', url: null, eventsSince: new Date(LONG_AGO) });
    const working = runBackfills(await env.replica());
    await eventually('the worker waits for the writer', async () => {
      const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM information_schema.PROCESSLIST
        WHERE INFO LIKE '%LOCK IN SHARE MODE%' AND INFO NOT LIKE '%PROCESSLIST%'`.execute(context.db);
      return Number(rows[0]?.count) > 0;
    });
    return { ...added, ended: working };
  });
  await ended;
  expect(await readWebhookIds(context, merchant.id)).toHaveLength(2);
});

test('a paused merchant gets its past events once it is enabled', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const payments = await env.applyTransactions(20, HISTORY);
  const { merchant } = await env.addMerchant(`${shop.url}/a`);
  await setMerchantState(env.context, merchant.id, 'paused');
  await env.deliver();
  const state = async () => (await findMerchant(env.context.db, merchant.id)).backfill_state;
  await runBackfills(env.context, async () => (await state()) === 'running');
  expect(await readWebhookIds(env.context, merchant.id)).toEqual([]);
  await setMerchantState(env.context, merchant.id, 'enabled');
  await runBackfills(env.context);
  await eventually('all', () => shop.calls.length === 60);
  expectOnceInOrder(shop.calls, payments);
});

test('a backfill that 0.2.0 left while it sent is done', async () => {
  await using env = await openCallbackEnvironment();
  const { merchant } = await env.addMerchant('http://127.0.0.1:1/');
  await env.context.db.updateTable('backfills').set({ state: 'sending' }).execute();
  await runBackfills(env.context);
  expect((await findMerchant(env.context.db, merchant.id)).backfill_state).toBe('done');
});

test('a backfill that is started anew while it runs sends nothing twice', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const payments = await env.applyTransactions(COUNT, HISTORY);
  const { merchant } = await env.addMerchant(`${shop.url}/a`, { eventsSince: new Date('2021-01-01T00:00:00Z') });
  await env.deliver();
  await runBackfills(env.context, async () => ((await findMerchant(env.context.db, merchant.id)).enqueued ?? 0) > 0);
  await updateMerchant(env.context, merchant.id, { eventsSince: new Date(LONG_AGO) });
  await runBackfills(env.context);
  await eventually('all', () => shop.calls.length === 3 * COUNT);
  expectOnceInOrder(shop.calls, payments);
});

test('a correction that a person accepted is among the past messages', async () => {
  await using env = await openCallbackEnvironment();
  const { context } = env;
  const { merchant: there } = await createMerchant(context, { name: 'x', url: null, eventsSince: new Date(LONG_AGO) });
  const paid = await env.applyTransaction(['pending', 'paid']);
  const changed = { ...paid.shown, amount: '105.00' };
  await applyObservations(context, [observe(changed, context.clock.now())]);
  const mismatch = await context.db
    .selectFrom('mismatches')
    .select('id')
    .where('kind', '=', 'amount_differs')
    .executeTakeFirstOrThrow();
  await acceptMismatch(context, mismatch.id, { actor: 'adm', note: 'seen' });
  const { merchant } = await createMerchant(context, { name: 'y', url: null, eventsSince: new Date(LONG_AGO) });
  await runBackfills(context);
  const types = async (seq: number) =>
    await context.db
      .selectFrom('callbacks')
      .select(['type', 'sequence'])
      .where('merchant_seq', '=', seq)
      .orderBy('seq')
      .execute();
  expect(await types(merchant.seq)).toEqual(await types(there.seq));
  expect((await types(merchant.seq)).map((row) => row.type)).toEqual([
    'pix.cashin.pending',
    'pix.cashin.paid',
    'pix.cashin.corrected',
  ]);
});

test('a page of a backfill reads its own events alone, however many there are', async () => {
  await using env = await openCallbackEnvironment();
  const { context } = env;
  await env.applyTransactions(1_000, ['pending', 'paid']);
  await sql`ANALYZE TABLE events`.execute(context.db);
  const handlers = await countReads(context.db, async (db) => {
    const page = await readPage(context, db, new Date(LONG_AGO), { wall: '2020-01-01 00:00:00', seq: 0 });
    expect(page.transactionSeqs.length).toBeGreaterThan(90);
  });
  expect(handlers).toBeLessThan(200 * 6);
});
