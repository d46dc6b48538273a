import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createToken } from '../../../src/access/tokens.ts';
import { transact } from '../../../src/database/transact.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi } from '../../support/open-api.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { ADMIN_TOKEN } from '../../support/start-serve.ts';

/** The parts of answers that these tests read. */
type Body = {
  id: string;
  secret: string;
  state: string;
  url: string;
  email: string | null;
  filter: object;
  token: string;
  count: number;
  attempts: number;
  waits_for_earlier: boolean;
  next_attempt_at: string | null;
  errors: Record<string, string[]>;
  next_cursor: string | null;
  merchants: Body[];
  callbacks: Body[];
  events: Array<{ id: string; type: string; data: { transaction: { id: string; sequence: number } } }>;
  attempt_list: Array<{
    request_headers: Record<string, string>;
    response_status: number;
    response_body: string | null;
    error_class: string;
  }>;
};
test('a merchant is added, shown without its secret, changed and removed', async () => {
  await using env = await openCallbackEnvironment();
  const api = await openApi<Body>(env);
  const input = { name: 'Loja', url: 'https://loja.example/pix', filter: { operations: ['cashin'] }, rate: 5 };
  const added = await api('POST', '/merchants', input);
  expect(added).toMatchObject({ status: 201, json: { name: 'Loja', state: 'enabled', rate: 5, email: null } });
  expect(added.json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(added.json.filter).toEqual({
    platforms: [],
    operations: ['cashin'],
    statuses: [],
    reference_prefixes: [],
    extra_prefixes: [],
    extra_match: {},
    expected: false,
  });
  const { id } = added.json;
  const shown = await api('GET', `/merchants/${id}`);
  expect(JSON.stringify(shown.json)).not.toContain('whsec_');
  const change = { url: 'https://loja.example/new', state: 'paused', email: 'loja@example.com', rate: null };
  const changed = await api('PATCH', `/merchants/${id}`, change);
  expect(changed).toMatchObject({ status: 200, json: { ...change, filter: added.json.filter } });
  expect((await api('DELETE', `/merchants/${id}`)).status).toBe(204);
  expect((await api('GET', `/merchants/${id}`)).status).toBe(404);
  expect((await api('GET', '/merchants')).json.merchants).toEqual([]);
});

test('what can be no merchant is refused by field', async () => {
  await using env = await openCallbackEnvironment({ ADMIN_TOKEN, CALLBACK_ALLOW_PRIVATE: 'false' });
  const api = await openApi<Body>(env);
  const good = { name: 'Loja', url: 'https://loja.example/pix' };
  const bad: Array<[object, string]> = [
    [{ ...good, url: '' }, 'url'],
    [{ ...good, url: 'ftp://example.com/' }, 'url'],
    [{ ...good, url: 'https://user:pass@example.com/' }, 'url'],
    [{ ...good, url: 'http://loja.example/pix' }, 'url'],
    [{ ...good, url: 'http://169.254.169.254/latest' }, 'url'],
    [{ ...good, url: 'http://2130706433/' }, 'url'],
    [{ ...good, name: '' }, 'name'],
    [{ ...good, email: 'nobody' }, 'email'],
    [{ ...good, rate: 0 }, 'rate'],
    [{ ...good, filter: { operations: ['cash'] } }, 'filter.operations.0'],
    [{ ...good, filter: { extra_match: { ['__proto__']: 'x' } } }, 'filter.extra_match.__proto__'],
    [{ ...good, headers: { ['__proto__']: 'x' } }, 'headers.__proto__'],
    [{ ...good, events_since: 'yesterday' }, 'events_since'],
  ];
  for (const [body, field] of bad) {
    const answer = await api('POST', '/merchants', body);
    expect(answer).toMatchObject({ status: 422, type: expect.stringContaining('application/problem+json') });
    expect(Object.keys(answer.json.errors)).toEqual([field]);
  }
  expect((await api('POST', '/merchants', { ...good, colour: 'red' })).status).toBe(422);
  const extra_match = { constructor: 'x', prototype: 'y' };
  const kept = await api('POST', '/merchants', { ...good, filter: { extra_match } });
  expect(kept).toMatchObject({ status: 201, json: { filter: { extra_match } } });
});

test('only admins change merchants, only operators repeat callbacks, and viewers see no merchant’s own words', async () => {
  await using env = await openCallbackEnvironment({ ADMIN_TOKEN, CALLBACK_RETRY_SCHEDULE: '1h' });
  const api = await openApi<Body>(env);
  await using shop = await openMerchantServer();
  shop.behaviours['/a?key=s3cret'] = () => (_request, response) => void response.writeHead(500).end('Maria is unknown');
  const { merchant } = await env.addMerchant(`${shop.url}/a?key=s3cret`);
  await env.deliver();
  await env.applyTransaction(['paid']);
  await eventually('the try', async () => (await api('GET', '/callbacks')).json.callbacks[0]?.attempts === 1);
  const viewer = (await createToken(env.context, { name: 'v', role: 'viewer' })).token;
  const operator = (await createToken(env.context, { name: 'o', role: 'operator' })).token;
  const id = (await api('GET', '/callbacks', undefined, viewer)).json.callbacks[0]?.id;
  await api('PATCH', `/merchants/${merchant.id}`, { email: 'ana@loja.example' });
  const contactsFor = async (token: string) => {
    const { url, email } = (await api('GET', `/merchants/${merchant.id}`, undefined, token)).json;
    const [listed] = (await api('GET', '/merchants', undefined, token)).json.merchants;
    expect([listed?.url, listed?.email]).toEqual([url, email]);
    return [url, email];
  };
  expect(await contactsFor(viewer)).toEqual([shop.url, null]);
  expect(await contactsFor(operator)).toEqual([`${shop.url}/a?key=s3cret`, 'ana@loja.example']);
  const seen = (await api('GET', `/callbacks/${id}`, undefined, viewer)).json.attempt_list[0];
  expect(seen).toMatchObject({ response_status: 500, response_body: null, error_class: 'http_status' });
  const full = (await api('GET', `/callbacks/${id}`, undefined, operator)).json.attempt_list[0];
  expect(full?.response_body).toBe('Maria is unknown');
  expect(full?.request_headers).toHaveProperty('webhook-id');
  expect(full?.request_headers).not.toHaveProperty('webhook-signature');
  expect((await api('POST', `/callbacks/${id}/redeliver`, {}, viewer)).status).toBe(403);
  expect((await api('POST', `/callbacks/${id}/redeliver`, {}, operator)).status).toBe(202);
  expect((await api('POST', '/merchants', { name: 'x', url: 'https://x.example/' }, operator)).status).toBe(403);
});

test('a redelivery of a message that waits sends the earlier one first, at once', async () => {
  await using env = await openCallbackEnvironment({ CALLBACK_RETRY_SCHEDULE: '1h,1h' });
  await using shop = await openMerchantServer();
  const api = await openApi<Body>(env);
  await env.addMerchant(`${shop.url}/a`);
  shop.behaviours['/a'] = () => 500;
  await env.deliver();
  await env.applyTransaction(['pending', 'paid']);
  const read = async () => (await api('GET', '/callbacks')).json.callbacks;
  // the second is rechecked each minute, which is no plan
  const [second] = await env.advanceUntil('the first fails', async () => {
    const found = await read();
    return found[1]?.attempts === 1 && found[0]?.next_attempt_at !== null && found;
  });
  expect(second).toMatchObject({ attempts: 0, waits_for_earlier: true });
  shop.behaviours['/a'] = () => 200;
  const answer = await api('POST', `/callbacks/${second?.id}/redeliver`);
  expect(answer).toMatchObject({ status: 202, json: { waits_for_earlier: true } });
  await eventually('both', () => shop.acceptedCalls('/a').length === 2);
  expect(shop.acceptedCalls('/a').map(({ json }) => json.type)).toEqual(['pix.cashin.pending', 'pix.cashin.paid']);
  // sent once more, each waits for none
  shop.behaviours['/a'] = () => 500;
  await eventually('recorded', async () => (await read()).every(({ state }) => state === 'delivered'));
  await api('POST', `/callbacks/${(await read())[1]?.id}/redeliver`);
  const again = await env.advanceUntil('it fails', async () => {
    const found = await read();
    return found[1]?.attempts === 3 && found;
  });
  expect(again.map((one) => one.waits_for_earlier)).toEqual([false, false]);
  await api('POST', `/callbacks/${again[0]?.id}/redeliver`);
  expect((await read()).map((one) => one.waits_for_earlier)).toEqual([true, false]);
});

test('a redelivery and a replay send the same ids again, in order, and a dry run only counts', async () => {
  await using env = await openCallbackEnvironment();
  const api = await openApi<Body>(env);
  await using shop = await openMerchantServer();
  const { merchant } = await env.addMerchant(`${shop.url}/a`);
  await env.deliver();
  const from = new Date(env.context.clock.now().getTime() - 1000).toISOString();
  await env.applyTransaction(['pending', 'paid', 'refund'], { reference: 'a-1' });
  await env.applyTransaction(['pending', 'paid'], { reference: 'b-1' });
  const allDone = () =>
    eventually('all recorded', async () => {
      const { callbacks } = (await api('GET', '/callbacks')).json;
      return callbacks.length === 5 && callbacks.every((one) => one.state === 'delivered');
    });
  await allDone();
  const ids = shop.calls.map((call) => call.headers['webhook-id']);
  const last = (await api('GET', '/callbacks?limit=1')).json;
  expect((await api('POST', `/callbacks/${last.callbacks[0]?.id}/redeliver`)).status).toBe(202);
  await eventually('the redelivery', () => shop.calls.length === 6);
  expect(ids).toContain(shop.calls[5]?.headers['webhook-id']);
  await allDone();
  const to = new Date(env.context.clock.now().getTime() + 1000).toISOString();
  const range = { merchant: merchant.id, from, to };
  expect((await api('POST', '/callbacks/replay', { ...range, dry_run: true })).json.count).toBe(5);
  // by the time of the event, whenever its message was made
  const { db, calendar } = env.context;
  const events = await db.selectFrom('events').select('at_wall').execute();
  const newest = events.map(({ at_wall: at }) => calendar.toInstant(at).getTime()).sort((a, b) => b - a);
  const after = (ms: number) => new Date((newest[0] ?? 0) + ms).toISOString();
  const byEvent = async (fromMs: number, toMs: number) => {
    const times = { ...range, by: 'event', from: after(fromMs), to: after(toMs), dry_run: true };
    return (await api('POST', '/callbacks/replay', times)).json.count;
  };
  const late = new Date(Date.now() + 3 * 86_400_000);
  await db.updateTable('callbacks').set({ created_at: late }).where('webhook_id', '=', String(ids[0])).execute();
  expect(await byEvent(-86_400_000, 1)).toBe(5);
  expect(await byEvent(0, 1)).toBe(newest.filter((one) => one === newest[0]).length);
  expect(await byEvent(1, 86_400_000)).toBe(0);
  expect((await api('POST', '/callbacks/replay', { ...range, dry_run: true })).json.count).toBe(4);
  const back = { created_at: new Date(Date.parse(from) + 1) };
  await db.updateTable('callbacks').set(back).where('webhook_id', '=', String(ids[0])).execute();
  expect(shop.calls).toHaveLength(6);
  const onlyA = { ...range, filter: { reference_prefixes: ['a-'] } };
  expect(await api('POST', '/callbacks/replay', onlyA)).toMatchObject({ status: 202, json: { count: 3 } });
  await eventually('the replay', () => shop.calls.length === 9);
  expect(shop.calls.slice(6).map((call) => call.json.data.transaction.sequence)).toEqual([1, 2, 3]);
  expect(new Set(shop.calls.map((call) => call.headers['webhook-id']))).toEqual(new Set(ids));

  await allDone();
  const at = env.context.clock.now();
  const restore = { restored_at: at, gap_from: at, head_position: 0 };
  await env.context.db.insertInto('restores').values(restore).execute();
  for (const [path, body] of [
    [`/callbacks/${last.callbacks[0]?.id}/redeliver`, {}],
    ['/callbacks/replay', range],
  ] as const)
    expect(await api('POST', path, body)).toMatchObject({
      status: 409,
      json: { detail: expect.stringContaining('confirm a restore') },
    });
  expect((await api('GET', '/callbacks')).json.callbacks.map((one) => one.state)).toEqual(
    Array.from({ length: 5 }, () => 'delivered'),
  );
});

test('after a rotation both secrets sign, the newest first, and after the next one the oldest no longer', async () => {
  await using env = await openCallbackEnvironment();
  const api = await openApi<Body>(env);
  await using shop = await openMerchantServer();
  const { merchant, secret: first } = await env.addMerchant(`${shop.url}/a`);
  await env.deliver();
  const rotate = async (): Promise<string> =>
    (await api('POST', `/merchants/${merchant.id}/rotate-secret`)).json.secret;
  const nextCall = async (count: number) => {
    await env.applyTransaction(['paid']);
    await eventually('a call', () => shop.calls.length === count);
    const call = shop.calls[count - 1];
    const verifies = (secret: string): boolean => {
      try {
        new Webhook(secret).verify(call?.body ?? '', call?.headers ?? {});
        return true;
      } catch {
        return false;
      }
    };
    return { verifies, signatures: call?.headers['webhook-signature']?.split(' ').length };
  };
  const second = await rotate();
  const one = await nextCall(1);
  expect([one.signatures, one.verifies(first), one.verifies(second)]).toEqual([2, true, true]);
  const third = await rotate();
  const two = await nextCall(2);
  expect([two.signatures, two.verifies(first), two.verifies(second), two.verifies(third)]).toEqual([
    2,
    false,
    true,
    true,
  ]);
});

test('a test reaches a paused merchant, signed, and is tried once', async () => {
  await using env = await openCallbackEnvironment();
  const api = await openApi<Body>(env);
  await using shop = await openMerchantServer();
  shop.behaviours['/a'] = (_call, nth) => (nth === 1 ? 200 : 500);
  const { merchant, secret } = await env.addMerchant(`${shop.url}/a`);
  await env.deliver();
  await api('POST', `/merchants/${merchant.id}/pause`);
  const sent = await api('POST', `/merchants/${merchant.id}/test`);
  expect(sent.status).toBe(202);
  await eventually('the test', () => shop.calls.length === 1);
  const call = shop.calls[0];
  expect(new Webhook(secret).verify(call?.body ?? '', call?.headers ?? {})).toMatchObject({ type: 'confere.test' });
  const { id } = (await api('POST', `/merchants/${merchant.id}/test`)).json;
  await eventually('its end', async () => (await api('GET', `/callbacks/${id}`)).json.state === 'failed');
  expect((await api('GET', `/merchants/${merchant.id}`)).json.state).toBe('paused');
});

test('lists page through everything once, and narrow', async () => {
  await using env = await openCallbackEnvironment();
  const api = await openApi<Body>(env);
  const { merchant } = await env.addMerchant('http://127.0.0.1:1/');
  await env.addMerchant('http://127.0.0.1:1/', { filter: { statuses: ['paid'] } });
  const paid = await env.applyTransaction(['pending', 'paid']);
  await env.applyTransaction(['pending', 'paid']);
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json }: { json: Body } = await api('GET', `/callbacks?limit=4&cursor=${cursor}`);
    found.push(...json.callbacks.map((one) => one.id));
    cursor = json.next_cursor;
  }
  expect(found).toHaveLength(6);
  expect(new Set(found).size).toBe(6);
  const count = async (query: string) => (await api('GET', `/callbacks?${query}`)).json.callbacks.length;
  expect(await count(`merchant=${merchant.id}`)).toBe(4);
  expect(await count(`transaction_id=${paid.id}`)).toBe(3);
  expect(await count('type=pix.cashin.paid&state=pending')).toBe(4);
  expect((await api('GET', '/callbacks?state=lost')).status).toBe(422);
  expect((await api('GET', '/callbacks/cb_999')).status).toBe(404);
  expect((await api('GET', '/callbacks/nonsense')).status).toBe(404);
});

test('a merchant fetches its own events with its own token, and a late commit is not skipped', async () => {
  await using env = await openCallbackEnvironment();
  const api = await openApi<Body>(env);
  const { merchant } = await env.addMerchant('http://127.0.0.1:1/', { filter: { platforms: ['p1'] } });
  const { token } = (await api('POST', `/merchants/${merchant.id}/pull-token`)).json;
  await env.applyTransaction(['paid'], { platform: 'p2' });
  // an event whose transaction is still open when a later one is committed and fetched
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const late = transact(env.context.db, async (trx) => {
    const now = env.context.clock.now();
    const row = { webhook_id: 'msg_late', merchant_seq: merchant.seq, type: 'confere.test', source: 'test' };
    await trx
      .insertInto('callbacks')
      .values({ ...row, state: 'held', created_at: now })
      .execute();
    begun.resolve();
    await finish.promise;
  });
  await begun.promise;
  const paid = await env.applyTransaction(['pending', 'paid'], { platform: 'p1' });
  const first = await api('GET', '/events', undefined, token);
  expect(first.json.events.map((event) => event.type)).toEqual(['pix.cashin.pending', 'pix.cashin.paid']);
  expect(first.json.events[0]?.data.transaction).toMatchObject({ id: paid.id, sequence: 1 });
  finish.resolve();
  await late;
  const second = await api('GET', `/events?after=${first.json.next_cursor}`, undefined, token);
  expect(second.json.events.map((event) => event.id)).toEqual(['msg_late']);
  const third = await api('GET', `/events?after=${second.json.next_cursor}`, undefined, token);
  expect(third.json).toEqual({ events: [], next_cursor: second.json.next_cursor, newest_cursor: '3' });
  expect((await api('GET', '/events', undefined, ADMIN_TOKEN)).status).toBe(401);
  expect((await api('GET', '/merchants', undefined, token)).status).toBe(401);
});
