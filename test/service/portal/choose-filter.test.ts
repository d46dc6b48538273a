import { expect, test } from 'vitest';
import { readPreviewedEvents } from '../../../src/callbacks/manage/read-previewed-events.ts';
import { defaultEventsSince, setMerchantState, updateMerchant } from '../../../src/merchants/change-merchants.ts';
import { eraseFromMerchants } from '../../../src/merchants/erase-from-merchants.ts';
import { completeFilter, type FilterInput } from '../../../src/merchants/match-filter.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { createMerchantToken, openScopeOf } from '../../support/open-scopes.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const [OURS, THEIRS] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];

const env = closeAfterAll(await openCallbackEnvironment());

/** A merchant that fetches its events, so that nothing has to be sent; its backfill of nothing is done. */
async function addMerchant(
  filter: FilterInput = { platforms: [OURS] },
  eventsSince = new Date('2020-01-01T00:00:00Z'),
) {
  const { merchant } = await env.addMerchant('http://127.0.0.1:9/', { url: null, filter, eventsSince });
  const token = await createMerchantToken(env.context, merchant.id);
  await runBackfills(env.context);
  const typesOf = async () => {
    const rows = env.context.db
      .selectFrom('callbacks')
      .innerJoin('transactions', 'transactions.seq', 'transaction_seq');
    const found = rows.select(['type', 'platform']).where('merchant_seq', '=', merchant.seq).orderBy('callbacks.seq');
    return (await found.execute()).map(({ type, platform }) => `${platform === OURS ? 'ours' : 'theirs'} ${type}`);
  };
  return { merchant, typesOf, scope: () => openScopeOf(env.context, token) };
}

async function choose(of: Awaited<ReturnType<typeof addMerchant>>, filter: FilterInput): Promise<void> {
  await (await of.scope()).changesIn(env.context).setFilter(filter);
}

test('a merchant narrows what operators allow, and cannot widen it', async () => {
  const shop = await addMerchant();
  const pay = async () => {
    await env.applyTransaction(['pending', 'paid'], { platform: OURS });
    await env.applyTransaction(['pending', 'paid'], { platform: THEIRS });
  };
  await choose(shop, { statuses: ['paid'] });
  await pay();
  expect(await shop.typesOf()).toEqual(['ours pix.cashin.paid']);
  await choose(shop, { platforms: [THEIRS], statuses: ['paid'] });
  await pay();
  expect(await shop.typesOf()).toEqual(['ours pix.cashin.paid']);
  // what it chose holds on when operators allow more
  await choose(shop, { platforms: [THEIRS], statuses: ['expired'] });
  await updateMerchant(env.context, shop.merchant.id, { filter: {} });
  await runBackfills(env.context);
  await pay();
  expect(await shop.typesOf()).toEqual(['ours pix.cashin.paid']);
});

test('a wider filter brings the past events that it lacks, and one more waits until they are sent', async () => {
  await env.timers.advance(2_000);
  const shop = await addMerchant({ platforms: [OURS] }, defaultEventsSince(env.context.clock.now()));
  await choose(shop, { statuses: ['refund'] });
  await env.applyTransaction(['pending', 'paid'], { platform: OURS });
  expect(await shop.typesOf()).toEqual([]);
  const preview = async (filter: FilterInput) => (await (await shop.scope()).previewFilter(filter)).past;
  expect(await preview({ statuses: ['paid', 'refund'] })).toEqual({ callbacks: 1, complete: true });
  expect(await preview({ statuses: ['refund'] })).toBeNull();
  await choose(shop, { statuses: ['paid', 'refund'] });
  await expect(choose(shop, {})).rejects.toThrow('past events of an earlier change are still being sent');
  await choose(shop, { statuses: ['paid'] });
  await runBackfills(env.context);
  expect(await shop.typesOf()).toEqual(['ours pix.cashin.paid']);
  // what was sent under a filter of before is not sent again
  await choose(shop, { statuses: ['refund'] });
  await runBackfills(env.context);
  expect(await preview({ statuses: ['paid', 'refund'] })).toEqual({ callbacks: 0, complete: true });
  await choose(shop, {});
  await runBackfills(env.context);
  expect((await shop.typesOf()).sort()).toEqual(['ours pix.cashin.paid', 'ours pix.cashin.pending']);
  expect((await findMerchant(env.context.db, shop.merchant.id)).own_filter).toBeNull();
});

test('a preview says of which added events the message is there already', async () => {
  await env.timers.advance(2_000);
  const shop = await addMerchant({ platforms: [OURS] }, defaultEventsSince(env.context.clock.now()));
  await env.applyTransaction(['paid'], { platform: OURS });
  await choose(shop, { statuses: ['refund'] });
  await env.applyTransaction(['paid'], { platform: OURS });
  const { before, examples, past } = await (await shop.scope()).previewFilter({});
  expect(before).toEqual({ matched: 0, gained: 2, lost: 0, had: 1 });
  expect(examples.map(({ isThere }) => isThere)).toEqual([false, true]);
  expect(past, 'none goes again').toEqual({ callbacks: 1, complete: true });
});

test('a preview counts what operators allow alone: other events change no number of it', async () => {
  const shop = await addMerchant({ platforms: [OURS], extra_match: { store: 7 } });
  const now = env.context.clock.now();
  const late = await addMerchant({ platforms: [OURS] }, new Date(now.getTime() + 60_000));
  await env.applyTransactions(3, ['pending', 'paid'], { platform: OURS, extra: '{"store":7}' });
  await env.applyTransaction(['paid'], { platform: OURS, extra: '{"store":8}' });
  const preview = async (filter: FilterInput) => await (await shop.scope()).previewFilter(filter);
  const everything = await preview({});
  expect(everything).toMatchObject({
    events: 6,
    complete: true,
    matched: 6,
    before: { matched: 6, gained: 0, lost: 0, had: 0 },
  });
  const paid = await preview({ statuses: ['paid'] });
  expect(paid).toMatchObject({ events: 6, matched: 3, before: { matched: 6, gained: 0, lost: 3 } });
  expect(await preview({ platforms: [THEIRS] })).toMatchObject({ events: 6, matched: 0, before: { lost: 6 } });
  expect(
    await preview({ platforms: [OURS, THEIRS], operations: ['cashout'], statuses: ['paid', 'payed'] }),
  ).toMatchObject({
    unseen: { platforms: [THEIRS], operations: ['cashout'], statuses: ['payed'] },
    seen: { platforms: [OURS], operations: ['cashin'], statuses: ['paid', 'pending'] },
  });
  expect(paid).toMatchObject({ unseen: {}, seen: {} });
  await env.applyTransactions(20, ['pending', 'paid'], { platform: THEIRS, extra: '{"store":7}' });
  expect(await preview({ statuses: ['paid'] })).toEqual(paid);
  expect(await preview({})).toEqual(everything);
  expect(await (await late.scope()).previewFilter({})).toMatchObject({ events: 0, matched: 0, examples: [] });
  expect(await (await late.scope()).previewFilter({ statuses: ['payed'] })).toMatchObject({ unseen: {}, seen: {} });
});

test('a preview in pages has each event once, and finds prefixes and events without a platform', async () => {
  const facts = { reference: 'page-é-1', extra: 'zone-9' };
  await env.applyTransactions(5, ['pending', 'paid'], facts);
  await env.applyTransaction(['paid'], { reference: 'page-x' });
  const filter = completeFilter({ platforms: ['none'], reference_prefixes: ['page-é'], extra_prefixes: ['zone', 'q'] });
  const allowed = { filter, since: new Date('2020-01-01T00:00:00Z') };
  const whole = await readPreviewedEvents(env.context, allowed);
  expect(whole).toMatchObject({ complete: true, rows: Array.from({ length: 10 }, () => facts) });
  for (const pageRows of [1, 3, 10])
    expect(await readPreviewedEvents(env.context, allowed, { pageRows }), `${pageRows}`).toEqual(whole);
});

test('a merchant enables itself after a pause of its own, and never after one by operators', async () => {
  const shop = await addMerchant();
  const { id } = shop.merchant;
  const set = async (state: 'enabled' | 'paused') =>
    (await (await shop.scope()).changesIn(env.context).setState(state)).state;
  expect(await set('paused')).toBe('paused');
  await expect(set('paused')).rejects.toThrow('paused already');
  expect(await set('enabled')).toBe('enabled');
  for (const pause of [
    () => setMerchantState(env.context, id, 'paused'),
    () => updateMerchant(env.context, id, { state: 'paused' }),
  ]) {
    await set('paused');
    await pause();
    await expect(set('enabled')).rejects.toThrow('only they can enable it');
    await setMerchantState(env.context, id, 'enabled');
  }
  await setMerchantState(env.context, id, 'disabled');
  expect(await set('enabled')).toBe('enabled');
});

test('forgetting a person finds the filter that a merchant chose', async () => {
  const shop = await addMerchant();
  await choose(shop, { extra_prefixes: ['Rita Quadros'] });
  const left: string[] = [];
  const person = {
    redact: (text: string) => (text.includes('Rita') ? '' : undefined),
    onLeft: (one: string) => left.push(one),
  };
  const erase = eraseFromMerchants(env.context) as (...args: unknown[]) => Promise<number>;
  await erase(person, { write: true });
  expect(left).toEqual([`merchants ${shop.merchant.id}`]);
});
