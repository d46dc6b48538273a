import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { beforeAll, expect, test, vi } from 'vitest';
import { CONDITION_STEPS } from '../../../jobs/watch-conditions.ts';
import { readPullMetrics } from '../../../src/callbacks/health/read-pull-metrics.ts';
import { pullReads } from '../../../src/metrics/metrics.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { type CallApi, openApi } from '../../support/open-api.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';

type Feed = { events: { id: string; type: string }[]; next_cursor: string };
type Shown = {
  id: string;
  url: string | null;
  state: string;
  token: string;
  pulled_at: string | null;
  expires_at: string;
};

const env = closeAfterAll(await openCallbackEnvironment());
let call: CallApi;
beforeAll(async () => {
  call = await openApi(env);
  await env.deliver();
});

async function addPulling(): Promise<{ id: string; token: string; pull(after?: string): Promise<Feed> }> {
  const { json, status } = await call<Shown>('POST', '/merchants', { name: 'Loja' });
  expect({ status, url: json.url }).toEqual({ status: 201, url: null });
  const { token } = (await call<Shown>('POST', `/merchants/${json.id}/pull-token`, {})).json;
  const pull = async (after?: string) => {
    // the limit of reads is a test of its own
    await env.timers.advance(1_000);
    return (await call<Feed>('GET', `/events${after === undefined ? '' : `?after=${after}`}`, undefined, token)).json;
  };
  return { id: json.id, token, pull };
}

async function statesOf(id: string): Promise<string[]> {
  const rows = await env.context.db
    .selectFrom('callbacks')
    .innerJoin('merchants', 'merchants.seq', 'merchant_seq')
    .select('callbacks.state')
    .where('merchants.id', '=', id)
    .orderBy('callbacks.seq')
    .execute();
  return rows.map((row) => row.state);
}

test('a merchant without a URL fetches its events, and the cursor that it asks from acknowledges them', async () => {
  const shop = await addPulling();
  await env.applyTransaction(['pending', 'paid']);
  const first = await shop.pull();
  expect(first.events.map((event) => event.type)).toEqual(['pix.cashin.pending', 'pix.cashin.paid']);
  await env.advanceUntil('the upkeep', async () => (await shop.pull()).events.length === 2);
  expect(await statesOf(shop.id), 'fetching alone acknowledges nothing').toEqual(['pending', 'pending']);
  const [events, age] = await readPullMetrics(env.context);
  expect(events?.values).toBe(2);
  expect(age?.values).toBeGreaterThan(0);

  expect(await shop.pull(first.next_cursor)).toEqual({
    events: [],
    next_cursor: first.next_cursor,
    newest_cursor: '2',
  });
  expect(await statesOf(shop.id)).toEqual(['delivered', 'delivered']);
  expect((await readPullMetrics(env.context)).map(({ values }) => values)).toEqual([0, 0]);
  expect((await call<Shown>('GET', `/merchants/${shop.id}`)).json.pulled_at).not.toBeNull();
  expect((await shop.pull()).events, 'an earlier cursor still reads them').toEqual(first.events);
});

test('the loop in the documents reads and acknowledges each event once, and ends', async () => {
  const shop = await addPulling();
  for (let count = 0; count < 3; count++) await env.applyTransaction(['pending', 'paid']);
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/fetch-events.md'), 'utf8');
  const [, code = ''] = /```js\n(.*?)```/s.exec(page) ?? [];
  const kept: string[] = [];
  let cursor: string | undefined;
  const given = {
    process: { env: { PULL_TOKEN: shop.token } },
    async fetch(address: string, { headers }: { headers: { authorization: string } }) {
      // the limit of reads is a test of its own
      await env.timers.advance(1_000);
      const token = headers.authorization.replace('Bearer ', '');
      const { pathname, search } = new URL(address.replace('limit=200', 'limit=4'));
      const { status, json } = await call<Feed>('GET', `${pathname.replace('/api/v1', '')}${search}`, undefined, token);
      return { ok: status === 200, json: () => Promise.resolve(json) };
    },
    readCursor: () => Promise.resolve(cursor),
    store(events: Feed['events'], next: string) {
      for (const { id } of events) kept.push(id);
      cursor = next;
      return Promise.resolve();
    },
  };
  const run = () => runInNewContext(`(async () => {${code}})()`, given) as Promise<void>;
  await run();
  expect([kept.length, new Set(kept).size]).toEqual([6, 6]);
  expect(await statesOf(shop.id)).toEqual(Array.from({ length: 6 }, () => 'delivered'));
  await run();
  expect(kept).toHaveLength(6);
});

test('a cursor beyond the last event acknowledges nothing that comes later', async () => {
  const shop = await addPulling();
  await shop.pull('999999');
  await env.applyTransaction(['paid']);
  expect((await shop.pull()).events).toHaveLength(1);
  expect(await statesOf(shop.id)).toEqual(['pending']);
});

test('a merchant that fetches is never held or disabled, however long it does not come', async () => {
  const shop = await addPulling();
  await call('POST', `/merchants/${shop.id}/pause`);
  await env.applyTransactions(3, ['paid']);
  await env.timers.advance(6 * 24 * 3_600_000);
  const other = await env.applyTransaction(['paid']);
  await env.advanceUntil('some upkeep', async () => (await statesOf(shop.id)).length === 4);
  await env.timers.advance(5_000);
  expect(await statesOf(shop.id)).toEqual(['pending', 'pending', 'pending', 'pending']);
  await call('POST', `/merchants/${shop.id}/enable`);
  expect((await call<Shown>('GET', `/merchants/${shop.id}`)).json.state).toBe('enabled');
  expect((await shop.pull()).events).toHaveLength(4);
  expect(other.id).toBeTruthy();
});

test('a test event comes by the feed; a redelivery is refused with the reason', async () => {
  const shop = await addPulling();
  const { json } = await call<{ id: string }>('POST', `/merchants/${shop.id}/test`);
  expect((await shop.pull()).events.map((event) => event.type)).toEqual(['confere.test']);
  const refused = await call<{ detail: string }>('POST', `/callbacks/${json.id}/redeliver`);
  expect(refused).toMatchObject({ status: 409, json: { detail: expect.stringMatching(/earlier cursor/) } });
});

test('an event that the ledger lacks is left out of the feed: logged once without personal data, failed, and alerted', async () => {
  const shop = await addPulling();
  await env.applyTransaction(['pending', 'paid']);
  const page = await shop.pull();
  const lost = page.events[0]?.id ?? '';
  await env.context.db.updateTable('callbacks').set({ event_seq: 999_999 }).where('webhook_id', '=', lost).execute();
  const logged = vi.spyOn(env.context.log, 'error');
  for (let time = 0; time < 2; time++) {
    expect(await shop.pull()).toMatchObject({ events: [page.events[1]], next_cursor: page.next_cursor });
  }
  expect(logged.mock.calls).toEqual([[{ callbacks: [lost] }, expect.stringContaining('the ledger lacks them')]]);
  logged.mockRestore();
  await shop.pull(page.next_cursor);
  expect(await statesOf(shop.id), 'the cursor does not acknowledge it').toEqual(['failed', 'delivered']);
  await CONDITION_STEPS.callback_failed?.(env.context);
  const alert = await env.context.db
    .selectFrom('alerts')
    .select('scope')
    .where('name', '=', 'callback_failed')
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  expect(alert).toEqual({ scope: shop.id });
});

test('a merchant that gets a URL is sent what it has not acknowledged, and one that loses it fetches the rest', async () => {
  await using server = await openMerchantServer();
  const shop = await addPulling();
  await env.applyTransactions(2, ['paid']);
  const { next_cursor: cursor } = await shop.pull();
  await env.applyTransactions(3, ['paid']);
  await shop.pull(cursor);
  await call('PATCH', `/merchants/${shop.id}`, { url: `${server.url}/a` });
  await env.advanceUntil('the rest', () => server.calls.length === 3);
  server.behaviours['/a'] = () => 500;
  await env.applyTransactions(2, ['paid']);
  await eventually('a failure', () => server.calls.length > 3);
  await call('PATCH', `/merchants/${shop.id}`, { url: null });
  await env.advanceUntil('what was being sent', async () => {
    const rows = await env.context.db
      .selectFrom('callbacks')
      .select('seq')
      .where('next_attempt_at', 'is not', null)
      .execute();
    return rows.length === 0;
  });
  expect((await shop.pull('5')).events).toHaveLength(2);
});

test('a token ends when it says, when it is revoked, and while its merchant is paused', async () => {
  const shop = await addPulling();
  const status = async (token: string) => (await call('GET', '/events', undefined, token)).status;
  const expires_at = new Date(env.context.clock.now().getTime() + 60_000).toISOString();
  const address = `/merchants/${shop.id}/pull-token`;
  const { json } = await call<Shown>('POST', address, { expires_at });
  expect(json.expires_at).toBe(expires_at);
  expect([await status(json.token), await status(shop.token)], 'it replaces the older one').toEqual([200, 401]);
  await env.timers.advance(61_000);
  expect(await status(json.token)).toBe(401);
  expect((await call('POST', address, { expires_at })).status, 'it has passed').toBe(422);
  const { token } = (await call<Shown>('POST', address, {})).json;
  expect(await status(token)).toBe(200);
  await call('POST', `/merchants/${shop.id}/pause`);
  expect(await status(token)).toBe(401);
  await call('POST', `/merchants/${shop.id}/enable`);
  expect(await status(token)).toBe(200);
  await call('DELETE', address);
  expect(await status(token)).toBe(401);
});

test('reads are counted, and more than ten a second are answered 429', async () => {
  const shop = await addPulling();
  const limited = async () =>
    (await pullReads.get()).values.find(({ labels }) => labels.outcome === 'limited')?.value ?? 0;
  const before = await limited();
  await env.timers.advance(1_000);
  const answers = await Promise.all(Array.from({ length: 30 }, () => call('GET', '/events', undefined, shop.token)));
  const refused = answers.filter((answer) => answer.status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.retryAfter).toBe('1');
  expect((await limited()) - before).toBe(refused.length);
  await env.timers.advance(1_000);
  expect((await call('GET', '/events', undefined, shop.token)).status).toBe(200);
});
