import { createHash, randomUUID } from 'node:crypto';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { eventually } from '../../support/eventually.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { WEBHOOK_SECRET } from '../../support/start-serve.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';

type Inbox = { webhooks: { id: string; state: string; reason: string | null }[] };

const stack = new AsyncDisposableStack();
let served: ServedEnvironment;

beforeAll(async () => {
  const sandbox = stack.use(await startTestSandbox());
  served = stack.use(await openServedEnvironment({ providerUrl: sandbox.url, env: { WEBHOOK_GRACE: '2s' } }));
});
afterAll(() => stack.disposeAsync());

function idOf(body: string | Buffer): string {
  return `wh_${createHash('sha256').update(body).digest('hex').slice(0, 32)}`;
}

async function stateOf(id: string): Promise<{ state: string; reason: string | null } | undefined> {
  const inbox = await served.api.call<Inbox>('GET', '/webhooks?limit=200');
  return inbox.webhooks.find((webhook) => webhook.id === id);
}

async function untilQuarantined(body: string | Buffer): Promise<{ reason: string | null }> {
  const quarantined = eventually(async () => {
    const found = await stateOf(idOf(body));
    return found?.state === 'quarantined' ? found : undefined;
  });
  return await advanceUntilDone(served, quarantined);
}

async function nothingMoved(): Promise<void> {
  expect(await served.api.call('GET', '/transactions')).toEqual({ transactions: [], next_cursor: null });
  expect(await served.api.call('GET', '/balances')).toMatchObject({ balances: [] });
}

describe('requests that are not webhooks', () => {
  it.each([
    ['not JSON', '{"transaction_id":', 'not_json'],
    ['a text', '"hello"', 'not_an_object'],
    ['an empty list', '[]', 'not_an_object'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'not_json'],
    ['40 levels', `${'['.repeat(40)}1${']'.repeat(40)}`, 'too_deep'],
    ['nothing', Buffer.alloc(0), 'empty'],
  ])('is answered 400 and kept once in quarantine: %s', async (_, body, reason) => {
    const first = await served.webhook(body);
    expect([first.status, first.json.title]).toEqual([400, 'Bad Request']);
    expect((await served.webhook(body)).status).toBe(400);
    const kept = await untilQuarantined(body);
    expect(kept.reason).toBe(reason);
    await nothingMoved();
  });

  it('is refused over 256 KiB, unread, and stored nowhere', async () => {
    const body = JSON.stringify({ transaction_id: randomUUID(), pad: 'x'.repeat(300 * 1024) });
    expect((await served.webhook(body)).status).toBe(413);
    expect(await stateOf(idOf(body))).toBeUndefined();
  });

  it('is refused when compressed', async () => {
    expect((await served.webhook('{}', { 'content-encoding': 'gzip' })).status).toBe(415);
  });

  it.each([
    ['another secret', { authorization: 'Bearer wrong' }],
    ['no secret', { authorization: '' }],
    ['another scheme', { authorization: `Basic ${WEBHOOK_SECRET}` }],
  ])('is refused with %s, and stored nowhere', async (_, headers) => {
    const body = JSON.stringify({ transaction_id: randomUUID(), status: 'paid', scheme: headers.authorization });
    const answer = await served.webhook(body, headers);
    expect([answer.status, answer.json.status]).toEqual([401, 401]);
    expect(await stateOf(idOf(body))).toBeUndefined();
  });

  it('waits in quarantine when the provider does not know its id', async () => {
    const body = JSON.stringify({ transaction_id: randomUUID(), status: 'paid', transaction_amount: '10.00' });
    expect(await served.webhook(body)).toMatchObject({ status: 200, json: { received: true, duplicate: false } });
    expect(await served.webhook(body)).toMatchObject({ status: 200, json: { received: true, duplicate: true } });
    const kept = await untilQuarantined(body);
    expect(kept.reason).toBe('unknown_at_provider');
    const open = await served.api.call<{ mismatches: { kind: string; actual: { reason: string } }[] }>(
      'GET',
      '/mismatches?kind=webhook_quarantined&state=open',
    );
    expect(open.mismatches.map((one) => one.actual.reason)).toContain('unknown_at_provider');
    await nothingMoved();
  });

  it('waits in quarantine when it names no transaction', async () => {
    const body = JSON.stringify({ hello: 'world', id: 30 });
    expect((await served.webhook(body)).status).toBe(200);
    const kept = await untilQuarantined(body);
    expect(kept.reason).toBe('no_key');
  });
});

describe('the API', () => {
  async function ask(path: string, init: { method?: string; body?: string; token?: string } = {}) {
    const response = await request(`${served.url}${path}`, {
      method: (init.method ?? 'GET') as 'GET',
      headers: { authorization: `Bearer ${init.token ?? 'adm_0123456789abcdef0123456789abcdef'}` },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    return {
      status: response.statusCode,
      type: String(response.headers['content-type']),
      json: JSON.parse(await response.body.text()) as Record<string, unknown>,
    };
  }

  it.each([
    ['an unknown token', '/api/v1/transactions', { token: 'nobody' }, 401],
    ['an unknown address', '/api/v1/nothing', {}, 404],
    ['an unknown transaction', `/api/v1/transactions/${randomUUID()}`, {}, 404],
    ['a body that is not JSON', '/api/v1/reconciliations', { method: 'POST', body: '{' }, 400],
    [
      'a day that is none',
      '/api/v1/reconciliations',
      { method: 'POST', body: '{"from":"2026-02-30","to":"2026-03-01"}' },
      422,
    ],
    [
      'days the wrong way round',
      '/api/v1/reconciliations',
      { method: 'POST', body: '{"from":"2026-03-02","to":"2026-03-01"}' },
      422,
    ],
    ['a limit of 0', '/api/v1/transactions?limit=0', {}, 422],
    ['a cursor of another', '/api/v1/transactions?cursor=abc', {}, 422],
    ['an unknown kind', '/api/v1/mismatches?kind=nonsense', {}, 422],
    ['a broken address', '/api/v1/transactions/%E0%A4%A', {}, 400],
  ])('answers %s with a problem', async (_, path, init, status) => {
    const answer = await ask(path, init);
    expect([answer.status, answer.type]).toEqual([status, 'application/problem+json; charset=utf-8']);
    expect(answer.json).toMatchObject({ status, title: expect.any(String) });
    if (status === 422) expect(Object.keys(answer.json.errors as object).length).toBeGreaterThan(0);
  });
});
