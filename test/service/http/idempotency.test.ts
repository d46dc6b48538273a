import { expect, test } from 'vitest';
import { createToken } from '../../../src/access/tokens.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { hideRows, holdReads, loseCommit, watchWrites } from '../../support/failing-database.ts';
import { applyTransactions, recordReadDays, transactionOf } from '../../support/make-report-transactions.ts';
import { openEnvironment, TEST_HTTP_LIMITS, type TestEnvironment } from '../../support/open-environment.ts';
import { readRows } from '../../support/read-rows.ts';

type Asked = { key?: string; body?: unknown; method?: string; token?: string; url?: string; type?: string };
type Answered = { status: number; replayed: string | null; text: string; headers: Headers };

const env = closeAfterAll(await openEnvironment());
let count = 0;

const url = await serve(env.context);
const admin = (await createToken(env.context, { name: 'admin', role: 'admin' })).token;

async function serve(context: TestEnvironment['context']): Promise<string> {
  const server = env.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  return `http://127.0.0.1:${server.port}/api/v1`;
}

async function send(address: string, asked: Asked = {}): Promise<Answered> {
  const { key, body, method = 'POST', token = admin, url: base = url, type = 'application/json' } = asked;
  const response = await fetch(base + address, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': type,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const { status, headers } = response;
  return { status, replayed: headers.get('idempotency-replayed'), text: await response.text(), headers };
}

const fee = (note: string) => ({
  platform: 'p',
  day: '2026-11-01',
  kind: 'fee',
  amount: '-1.50',
  note,
  new_platform: true,
});
const newKey = () => `key ${++count}`;

async function countAdjustments(note: string): Promise<number> {
  const rows = await env.context.db.selectFrom('adjustments').select('seq').where('note', '=', note).execute();
  return rows.length;
}

test('a repeated request gets the first status and body, and books nothing twice', async () => {
  const asked = { key: newKey(), body: fee('once') };
  const first = await send('/adjustments', asked);
  expect([first.status, first.replayed]).toEqual([201, null]);
  for (let time = 0; time < 2; time++) {
    const again = await send('/adjustments', asked);
    expect(again).toMatchObject({ status: 201, replayed: 'true', text: first.text });
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
  }
  expect(await countAdjustments('once')).toBe(1);
  const audited = env.context.db.selectFrom('audit').select('id').where('action', '=', 'adjustments.create');
  expect(await audited.execute()).toHaveLength(1);
});

test('what is committed and not yet shown by the host that answers is answered 503, and its repetition 201', async () => {
  let isBehind = true;
  const behind = await serve(hideRows(env.context, 'adjustments', () => isBehind));
  const asked = { key: newKey(), body: fee('shown late'), url: behind };
  const first = await send('/adjustments', asked);
  expect([first.status, first.headers.get('retry-after')]).toEqual([503, '5']);
  expect(JSON.parse(first.text)).toMatchObject({ reason: 'written_not_shown' });
  isBehind = false;
  expect(await send('/adjustments', asked)).toMatchObject({ status: 201, replayed: 'true' });
  expect(await countAdjustments('shown late')).toBe(1);
});

test('without a key a repeated request is another one', async () => {
  const body = fee('two movements');
  for (let time = 0; time < 2; time++) expect((await send('/adjustments', { body })).status).toBe(201);
  expect(await countAdjustments('two movements')).toBe(2);
});

test('a body that is written in another order is the same request; another value is refused', async () => {
  const key = newKey();
  const body = fee('order');
  const first = await send('/adjustments', { key, body });
  const turned = Object.fromEntries(Object.entries(body).reverse());
  expect(await send('/adjustments', { key, body: JSON.stringify(turned, null, 2) })).toMatchObject({
    replayed: 'true',
    text: first.text,
  });
  for (const other of [
    () => send('/adjustments', { key, body: { ...body, amount: '-1.51' } }),
    () => send('/adjustments?x=1', { key, body }),
    () => send('/statements', { key, body }),
    () => send('/merchants', { key, body }),
    () => send('/accounts', { key, body, method: 'PUT' }),
  ]) {
    const { status, text } = await other();
    expect(status, text).toBe(422);
  }
  const { text } = await send('/adjustments', { key, body: { ...body, amount: '-1.51' } });
  expect(JSON.parse(text)).toMatchObject({
    errors: { 'Idempotency-Key': [expect.stringContaining('another request')] },
  });
  expect(await countAdjustments('order')).toBe(1);
});

test('a key that is empty, too long or not printable is refused before anything is done', async () => {
  for (const key of ['', 'k'.repeat(256), 'tab\there', 'ação'])
    expect(await send('/adjustments', { key, body: fee('bad key') })).toMatchObject({ status: 422 });
  expect(await countAdjustments('bad key')).toBe(0);
  expect(await send('/adjustments', { key: 'k'.repeat(255), body: fee('long key') })).toMatchObject({ status: 201 });
  // a read takes none
  expect(await send('/adjustments', { key: '', method: 'GET' })).toMatchObject({ status: 200 });
});

test('a key belongs to the token that used it', async () => {
  const key = newKey();
  const other = await createToken(env.context, { name: 'other', role: 'admin' });
  const body = { role: 'viewer', name: 'scoped' };
  const [first, second] = [
    await send('/tokens', { key, body }),
    await send('/tokens', { key, body, token: other.token }),
  ];
  expect([first.status, second.status, second.replayed]).toEqual([201, 201, null]);
  expect(JSON.parse(second.text).id).not.toBe(JSON.parse(first.text).id);
  await send(`/tokens/${other.id}`, { method: 'DELETE' });
  expect(await send('/tokens', { key, body, token: other.token })).toMatchObject({ status: 401, replayed: null });
});

test('a key is free after seven days, whether retention has deleted it by then or not', async () => {
  const key = newKey();
  const body = fee('weekly');
  const { db, clock } = env.context;
  expect(await send('/adjustments', { key, body })).toMatchObject({ status: 201, replayed: null });
  const old = new Date(clock.now().getTime() - 7 * 86_400_000 - 1000);
  await db.updateTable('idempotency_keys').set({ created_at: old }).execute();
  expect(await send('/adjustments', { key, body })).toMatchObject({ status: 201, replayed: null });
  expect(await send('/adjustments', { key, body })).toMatchObject({ status: 201, replayed: 'true' });
  await db.updateTable('idempotency_keys').set({ created_at: old }).execute();
  const others = Array.from({ length: 4 }, () => send('/adjustments', { key, body: fee('of another week') }));
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect([await countAdjustments('weekly'), await countAdjustments('of another week')]).toEqual([2, 1]);
});

test('a refusal is not kept: the same request is evaluated anew', async () => {
  const { merchant } = await createMerchant(env.context, { name: 'paused', url: 'http://127.0.0.1:9/' });
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
  const asked = { key: newKey(), body: { merchant: merchant.id, ...range } };
  await send(`/merchants/${merchant.id}/pause`);
  for (let time = 0; time < 2; time++)
    expect(await send('/callbacks/replay', asked)).toMatchObject({ status: 409, replayed: null });
  await send(`/merchants/${merchant.id}/enable`);
  expect(await send('/callbacks/replay', asked)).toMatchObject({ status: 202, replayed: null });
  await send(`/merchants/${merchant.id}/pause`);
  expect(await send('/callbacks/replay', asked)).toMatchObject({ status: 202, replayed: 'true' });
});

test('a secret is shown again to the repetition alone, and is sealed in the database', async () => {
  const key = newKey();
  const body = { name: 'sealed shop', url: 'http://127.0.0.1:9/' };
  const first = await send('/merchants', { key, body });
  const { secret } = JSON.parse(first.text) as { secret: string };
  expect(await send('/merchants', { key, body })).toMatchObject({ status: 201, replayed: 'true', text: first.text });
  const rows = await env.context.db.selectFrom('idempotency_results').select('sealed').execute();
  for (const { sealed } of rows) {
    expect(sealed?.includes(secret)).toBe(false);
    expect(sealed?.includes('sealed shop')).toBe(false);
  }
  const keys = await env.context.db.selectFrom('idempotency_keys').selectAll().execute();
  expect(JSON.stringify(keys)).not.toContain(key);
});

test('an answer without a body is repeated', async () => {
  const { id } = await createToken(env.context, { name: 'gone', role: 'viewer' });
  const asked = { key: newKey(), method: 'DELETE' };
  expect(await send(`/tokens/${id}`, asked)).toMatchObject({ status: 204, replayed: null });
  expect(await send(`/tokens/${id}`, asked)).toMatchObject({ status: 204, replayed: 'true', text: '' });
});

test('of twenty requests at once, over two replicas, one changes something and all get its answer', async () => {
  const urls = [url, await serve(await env.replica())];
  const asked = { key: newKey(), body: fee('at once') };
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, at) => send('/adjustments', { ...asked, url: urls[at % 2] ?? url })),
  );
  expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(all.filter(({ replayed }) => replayed === null)).toHaveLength(1);
  expect(await countAdjustments('at once')).toBe(1);
});

test('while the first request is at work, the second waits, and is then answered 409 with Retry-After', async () => {
  const asked = { key: newKey(), body: fee('slow') };
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const holding = env.context.db.transaction().execute(async (trx) => {
    await trx.selectFrom('settings').select('value').where('name', '=', 'refund_commission').forUpdate().execute();
    lock();
    await released;
  });
  await locked;
  // either may arrive first
  const asks = [send('/adjustments', asked), send('/adjustments', asked)];
  const refused = await Promise.race(asks);
  release();
  await holding;
  expect(refused).toMatchObject({ status: 409, replayed: null });
  expect(refused.headers.get('retry-after')).toBe('1');
  const { status, text } = (await Promise.all(asks)).find((one) => one !== refused) ?? refused;
  expect(status).toBe(201);
  expect(await send('/adjustments', asked)).toMatchObject({ status: 201, replayed: 'true', text });
  expect(await countAdjustments('slow')).toBe(1);
});

test('a request whose answer could not be kept is answered an error, and its repetition gives what it did', async () => {
  // the first write holds the result of the change
  const failing = await failWrite(2);
  const asked = { key: newKey(), body: { role: 'viewer', name: 'kept' }, url: failing };
  expect(await send('/tokens', asked)).toMatchObject({ status: 500, replayed: null });
  const made = await env.context.db.selectFrom('tokens').select('id').where('name', '=', 'kept').execute();
  expect(made).toHaveLength(1);
  const again = await send('/tokens', asked);
  expect(again).toMatchObject({ status: 201, replayed: 'true' });
  expect(JSON.parse(again.text)).toMatchObject({ id: made[0]?.id, token: expect.any(String) });
  expect(await send('/tokens', asked)).toMatchObject({ status: 201, replayed: 'true', text: again.text });
  expect(await env.context.db.selectFrom('tokens').select('id').where('name', '=', 'kept').execute()).toEqual(made);
});

test('a change whose COMMIT was lost is made once, with its key', async () => {
  const losing = await serve(loseCommit(env.context, 'adjustments'));
  const asked = { key: newKey(), body: fee('lost commit'), url: losing };
  const first = await send('/adjustments', asked);
  expect(first.status).toBe(201);
  expect(await send('/adjustments', asked)).toMatchObject({ status: 201, replayed: 'true', text: first.text });
  expect(await countAdjustments('lost commit')).toBe(1);
});

test('a change in parts is continued where it ended, and counts all of its parts', async () => {
  const { db, clock } = env.context;
  const { merchant } = await createMerchant(env.context, { name: 'parts', url: 'http://127.0.0.1:9/' });
  const at = new Date(clock.now().getTime() - 60_000);
  await applyTransactions(env.context, [transactionOf('cashin', 500n, [['paid', '2026-11-01 10:00:00']])]);
  const { seq: transaction_seq } = await db.selectFrom('transactions').select('seq').executeTakeFirstOrThrow();
  const row = {
    merchant_seq: merchant.seq,
    transaction_seq,
    type: 'pix.cashin.paid',
    source: 'list',
    state: 'delivered',
  };
  const rows = Array.from({ length: 1_500 }, (_, index) => ({
    ...row,
    webhook_id: `msg_part_${index}`,
    created_at: at,
  }));
  await db.insertInto('callbacks').values(rows).execute();
  let parts = 0;
  const failing = await serve(
    watchWrites(env.context, 'callbacks', () => {
      if (++parts === 2) throw new Error('the second part fails');
    }),
  );
  const range = { from: new Date(at.getTime() - 1_000), to: new Date(at.getTime() + 1_000) };
  const asked = { key: newKey(), body: { merchant: merchant.id, ...range }, url: failing };
  const countDue = async () =>
    (await readRows(db, 'callbacks', ['seq'], { merchant_seq: merchant.seq, state: 'pending' })).length;
  expect(await send('/callbacks/replay', asked)).toMatchObject({ status: 500 });
  expect(await countDue()).toBe(1_000);
  // what was sent meanwhile is not sent again
  await db
    .updateTable('callbacks')
    .set({ state: 'delivered' })
    .where('merchant_seq', '=', merchant.seq)
    .where('state', '=', 'pending')
    .execute();
  const again = await send('/callbacks/replay', asked);
  expect(again).toMatchObject({ status: 202, replayed: 'true' });
  expect(JSON.parse(again.text)).toMatchObject({ count: 1_500 });
  expect(await countDue()).toBe(500);
  expect(await send('/callbacks/replay', asked)).toMatchObject({ status: 202, text: again.text });
  expect(await countDue()).toBe(500);
});

/** Fails the write of `number` results: 1 is that of the first change, and the answer comes after the last change. */
async function failWrite(number: number): Promise<string> {
  let writes = 0;
  const onWrite = () => {
    if (++writes === number) throw new Error('ended here');
  };
  return await serve(watchWrites(env.context, 'idempotency_results', onWrite));
}

test('a close of a month that ended before its answer is answered as the close that it was', async () => {
  await applyTransactions(env.context, [transactionOf('cashin', 500n, [['paid', '2020-01-10 10:00:00']])]);
  await recordReadDays(env.context, '2020-01-01', '2020-01-31', env.context.clock.now());
  await sealNow(env.context);
  for (const [action, status] of [
    ['close', 201],
    ['reopen', 200],
  ] as const) {
    const asked = { key: newKey(), body: { note: 'read' } };
    expect(await send(`/months/2020-01/${action}`, { ...asked, url: await failWrite(2) })).toMatchObject({
      status: 500,
    });
    const again = await send(`/months/2020-01/${action}`, asked);
    expect(again, again.text).toMatchObject({ status, replayed: 'true' });
  }
  const rows = await env.context.db.selectFrom('month_closes').select('action').orderBy('seq').execute();
  expect(rows.map(({ action }) => action)).toEqual(['close', 'reopen']);
});

test('a bulk resolution that ended between two batches is continued, and leaves what was opened later', async () => {
  const { db, clock } = env.context;
  const raise = (from: number, to: number) =>
    db.transaction().execute((trx) =>
      raiseMismatches(
        trx,
        Array.from({ length: to - from }, (_, at) => ({ kind: 'list_omission' as const, scope: `o${from + at}` })),
        clock.now(),
      ),
    );
  await raise(0, 120);
  const asked = { key: newKey(), body: { kind: 'list_omission', note: 'seen' } };
  const resolve = (url?: string) => send('/mismatches/resolve', { ...asked, ...(url === undefined ? {} : { url }) });
  const countOpen = async () => {
    const open = db.selectFrom('mismatches').select('seq').where('kind', '=', 'list_omission');
    return (await open.where('state', '=', 'open').execute()).length;
  };
  expect(await resolve(await failWrite(2))).toMatchObject({ status: 500 });
  expect(await countOpen()).toBe(70);
  await env.timers.advance(1_000);
  await raise(120, 125);
  const again = await resolve();
  expect(again).toMatchObject({ status: 200, replayed: 'true' });
  expect(JSON.parse(again.text)).toEqual({ resolved: 120, more: false });
  expect(await countOpen()).toBe(5);
  expect(await resolve()).toMatchObject({ status: 200, text: again.text });
  expect(await countOpen()).toBe(5);
});

test('a request waits for the lease of another process, and is answered 409 while it is renewed', async () => {
  const asked = { key: newKey(), body: { role: 'viewer', name: 'leased' } };
  expect(await send('/tokens', { ...asked, url: await failWrite(2) })).toMatchObject({ status: 500 });
  const { db, clock } = env.context;
  const lease = { lease_until: new Date(clock.now().getTime() + 3_600_000) };
  // replicas of other tests have clocks of their own: the newest by its number, not by its time
  const results = db.selectFrom('idempotency_results').select('key_hash').orderBy('seq', 'desc');
  const { key_hash } = await results.executeTakeFirstOrThrow();
  await db.updateTable('idempotency_keys').set(lease).where('key_hash', '=', key_hash).execute();
  const waiting = send('/tokens', asked);
  await advanceUntilDone(env, waiting);
  expect(await waiting).toMatchObject({ status: 409 });
  await env.timers.advance(3_600_000);
  expect(await send('/tokens', asked)).toMatchObject({ status: 201, replayed: 'true' });
});

test('a request that was answered 503 while it waited for the database leaves its key to the repetition', async () => {
  const isDatabaseGreeting = async () => false;
  const silent = await serve({ ...env.context, isDatabaseGreeting });
  const asked = { key: newKey(), body: fee('given up') };
  await env.context.db.transaction().execute(async (trx) => {
    await trx.selectFrom('settings').select('value').where('name', '=', 'refund_commission').forUpdate().execute();
    const given = send('/adjustments', { ...asked, url: silent });
    await advanceUntilDone(env, given);
    expect(await given).toMatchObject({ status: 503 });
  });
  await eventually('its change is made', async () => (await countAdjustments('given up')) === 1);
  const repeated = send('/adjustments', asked);
  await advanceUntilDone(env, repeated);
  expect(await repeated).toMatchObject({ status: 201, replayed: 'true' });
  expect(await countAdjustments('given up')).toBe(1);
});

test('a request that was answered 503 before it took its key leaves it to the repetition', async () => {
  const asked = { key: newKey(), body: { role: 'viewer', name: 'taken' } };
  expect(await send('/tokens', { ...asked, url: await failWrite(2) })).toMatchObject({ status: 500 });
  const reads = holdReads(env.context, 'idempotency_keys');
  const silent = await serve({ ...reads.context, isDatabaseGreeting: async () => false });
  reads.hold();
  const given = send('/tokens', { ...asked, url: silent });
  await advanceUntilDone(env, given);
  expect(await given).toMatchObject({ status: 503 });
  reads.release();
  await eventually('its read has ended', () => reads.held() === 0);
  const repeated = send('/tokens', asked);
  await advanceUntilDone(env, repeated);
  expect(await repeated).toMatchObject({ status: 201, replayed: 'true' });
});
