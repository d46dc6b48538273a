import { describe, expect, it } from 'vitest';
import { webhookSchema } from '../../../sandbox/http/response-schemas.ts';
import type { Timers } from '../../../sandbox/timers.ts';
import type { WebhookCounts } from '../../../sandbox/webhooks/count-webhooks.ts';
import { eventually } from '../../support/eventually.ts';
import {
  CASHIN,
  CASHOUT,
  type ReceivedWebhook,
  startTestSandbox,
  startWebhookReceiver,
  type TestSandbox,
} from '../../support/start-test-sandbox.ts';
import { createTestTimers } from '../../support/test-timers.ts';

async function create(
  sandbox: TestSandbox,
  kind: 'cashin' | 'cashout' = 'cashin',
  fields: object = {},
): Promise<string> {
  const body = { ...(kind === 'cashin' ? CASHIN : CASHOUT), ...fields };
  const { json } = await sandbox.request('POST', `/api/v1/transaction/pix/${kind}`, body);
  return json.transaction[0].id;
}

async function move(sandbox: TestSandbox, id: string, status: string, webhook: unknown = true): Promise<void> {
  const answer = await sandbox.request('POST', `/sandbox/transactions/${id}/events`, { status, webhook });
  expect(answer.status).toBe(201);
}

async function flush(sandbox: TestSandbox): Promise<WebhookCounts> {
  const { text } = await sandbox.request('POST', '/sandbox/webhooks/flush', { timeout_ms: 20_000 });
  return JSON.parse(text);
}

function statuses(received: ReceivedWebhook[]): unknown[] {
  return received.map(({ body }) => body.status);
}

describe('a webhook', () => {
  it('reports a change, flat, with the token, and carries extra; a creation sends none', async () => {
    await using receiver = await startWebhookReceiver();
    await using sandbox = await startTestSandbox(['--webhook-url', receiver.url, '--webhook-token', 'wht']);
    const id = await create(sandbox, 'cashin', { reference: 'w-1', extra: 'carrinho 3', amount: 7 });
    await flush(sandbox);
    expect(receiver.received).toEqual([]);
    await move(sandbox, id, 'paid');
    expect(await flush(sandbox)).toMatchObject({ total: 1, delivered: 1, due: 0 });
    const [webhook] = receiver.received;
    expect(webhook?.authorization).toBe('Bearer wht');
    expect(webhookSchema.safeParse(webhook?.body).error).toBeUndefined();
    expect(webhook?.body).toMatchObject({
      transaction_id: id,
      transaction_amount: '7.00',
      transaction_operation: 'in',
      transaction_reference: 'w-1',
      extra: 'carrinho 3',
      status: 'paid',
      path: `/api/v1/transaction/${id}`,
    });
  });

  it('is sent for the announced changes only', async () => {
    await using receiver = await startWebhookReceiver();
    await using sandbox = await startTestSandbox(['--webhook-url', receiver.url]);
    for (const status of ['in_process', 'expired', 'denied']) await move(sandbox, await create(sandbox), status);
    for (const status of ['denied', 'canceled']) await move(sandbox, await create(sandbox, 'cashout'), status);
    await flush(sandbox);
    expect(new Set(statuses(receiver.received))).toEqual(new Set(['canceled', 'denied']));
    expect(receiver.received).toHaveLength(2);
    await sandbox.request('PATCH', '/sandbox/switches', { webhooks: { announced: ['*'] } });
    await move(sandbox, await create(sandbox), 'expired');
    await flush(sandbox);
    expect(statuses(receiver.received)).toContain('expired');
  });

  it('is repeated after each failure with the same bytes until it is accepted', async () => {
    await using receiver = await startWebhookReceiver((received) => (received.length < 4 ? 500 : 200));
    await using sandbox = await startTestSandbox(['--webhook-url', receiver.url]);
    await sandbox.request('PATCH', '/sandbox/switches', { webhooks: { retry_after_ms: [10, 10, 10, 10] } });
    await move(sandbox, await create(sandbox), 'paid');
    expect(await flush(sandbox)).toMatchObject({ total: 1, delivered: 1 });
    expect(receiver.received).toHaveLength(4);
    expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
  });

  it('is given up after the last attempt, with its reason', async () => {
    await using receiver = await startWebhookReceiver(() => 401);
    await using sandbox = await startTestSandbox(['--webhook-url', receiver.url]);
    await sandbox.request('PATCH', '/sandbox/switches', { webhooks: { retry_after_ms: [10, 10] } });
    await move(sandbox, await create(sandbox), 'paid');
    expect(await flush(sandbox)).toMatchObject({ failed: 1, due: 0 });
    const { text } = await sandbox.request('GET', '/sandbox/webhooks?state=failed');
    expect(JSON.parse(text).webhooks).toMatchObject([{ attempts: 3, answer: '401', state: 'failed' }]);
  });

  it('is sent after a restart if it was still due', async () => {
    await using receiver = await startWebhookReceiver();
    const first = await startTestSandbox(['--webhook-url', receiver.url]);
    await move(first, await create(first), 'paid', { fate: 'late', delay_ms: 1_000 });
    await first[Symbol.asyncDispose]();
    expect(receiver.received).toEqual([]);
    await using second = await startTestSandbox(['--webhook-url', receiver.url], first);
    await flush(second);
    expect(statuses(receiver.received)).toEqual(['paid']);
  });

  it('goes to another address as soon as it is set', async () => {
    await using receiver = await startWebhookReceiver();
    await using sandbox = await startTestSandbox([]);
    await sandbox.request('PUT', '/sandbox/webhooks/target', { url: receiver.url, token: 'other' });
    await move(sandbox, await create(sandbox), 'paid');
    await flush(sandbox);
    expect(receiver.received[0]?.authorization).toBe('Bearer other');
  });

  it('comes in other shapes if a switch says so', async () => {
    await using receiver = await startWebhookReceiver();
    await using sandbox = await startTestSandbox(['--webhook-url', receiver.url]);
    for (const shape of ['transaction_array', 'transaction_object', 'transactions', 'data']) {
      await sandbox.request('PATCH', '/sandbox/switches', { webhooks: { shape } });
      const id = await create(sandbox);
      await move(sandbox, id, 'paid');
      await flush(sandbox);
      expect(receiver.received.at(-1)?.text).toContain(`"id":"${id}"`);
    }
    expect(receiver.received.map(({ body }) => Object.keys(body))).toEqual([
      ['transaction'],
      ['transaction'],
      ['transactions'],
      ['data'],
    ]);
  });
});

describe('fates of webhooks', () => {
  it('are chosen one by one: lost, repeated, late, forged', async () => {
    await using receiver = await startWebhookReceiver();
    await using sandbox = await startTestSandbox(['--webhook-url', receiver.url, '--webhook-token', 'wht']);
    await move(sandbox, await create(sandbox), 'paid', { fate: 'lost' });
    await move(sandbox, await create(sandbox), 'paid', { fate: 'late', delay_ms: 3_600_000 });
    await move(sandbox, await create(sandbox), 'paid', { fate: 'repeated' });
    await move(sandbox, await create(sandbox), 'paid', { fate: 'sent', forged: true });
    const counts = await flush(sandbox);
    expect(counts).toMatchObject({ lost: 1, due: 0, delivered: 5 });
    expect(counts.by_fate).toMatchObject({ sent: 1, lost: 1, repeated: 1, repeat: 1, late: 1, forged: 1 });
    const texts = receiver.received.map(({ text }) => text);
    expect(new Set(texts).size).toBe(texts.length - 1);
    expect(statuses(receiver.received)).toContain('refund');
  });

  it('follow the shares of the switches; a forger without the token is recognizable', async () => {
    await using receiver = await startWebhookReceiver();
    await using sandbox = await startTestSandbox(['--webhook-url', receiver.url, '--webhook-token', 'wht']);
    await sandbox.request('PATCH', '/sandbox/switches', {
      webhooks: { lose: 0.5, forge: 0.5, forge_with: 'wrong_token' },
    });
    for (let i = 0; i < 40; i++) await move(sandbox, await create(sandbox), 'paid');
    const { by_fate } = await flush(sandbox);
    expect(by_fate.lost).toBeGreaterThan(5);
    expect(by_fate.sent).toBeGreaterThan(5);
    expect(by_fate.forged).toBeGreaterThan(5);
    const forged = receiver.received.filter(({ authorization }) => authorization !== 'Bearer wht');
    expect(forged).toHaveLength(by_fate.forged);
  });

  it('keep a late webhook late after a flush of others', async () => {
    await using receiver = await startWebhookReceiver();
    await using sandbox = await startTestSandbox(['--webhook-url', receiver.url]);
    const pay = async (announcement: object): Promise<string> => {
      const id = await create(sandbox);
      await move(sandbox, id, 'paid', announcement);
      return id;
    };
    const hurried = await pay({ fate: 'late', delay_ms: 3_600_000 });
    await flush(sandbox);
    await pay({ fate: 'late', delay_ms: 600_000 });
    const arrived = () => receiver.received.map(({ body }) => body.transaction_id);
    const expected = [hurried];
    // twice: the next batch is selected after the previous one was sent
    for (let sent = 0; sent < 2; sent++) {
      const id = await pay({ fate: 'sent' });
      await eventually(() => arrived().includes(id));
      expected.push(id);
    }
    expect(arrived()).toEqual(expected);
  });

  it('hold a reordered webhook back until those that follow it are sent', async () => {
    await using receiver = await startWebhookReceiver();
    await using sandbox = await startTestSandbox(['--webhook-url', receiver.url]);
    const id = await create(sandbox);
    await move(sandbox, id, 'paid', { fate: 'reordered', delay_ms: 60_000 });
    await move(sandbox, id, 'refund', { fate: 'sent' });
    await flush(sandbox);
    expect(statuses(receiver.received)).toEqual(['refund', 'paid']);
  });
});

describe('planned steps', () => {
  it('go on by themselves after a creation, at the speed of the switch, each with its webhook', async () => {
    await using receiver = await startWebhookReceiver();
    await using sandbox = await startTestSandbox(['--webhook-url', receiver.url]);
    const paths = [
      {
        weight: 1,
        steps: [
          { status: 'in_process', after_s: [60, 60] },
          { status: 'paid', after_s: [60, 60] },
          { status: 'refund', after_s: [60, 60] },
        ],
      },
    ];
    await sandbox.request('PATCH', '/sandbox/switches', { lives: { created: 'auto', speed: 1_000, cashin: paths } });
    const id = await create(sandbox);
    await eventually(() => receiver.received.length >= 2);
    expect(statuses(receiver.received)).toEqual(['paid', 'refund']);
    const { json } = await sandbox.request('GET', `/api/v1/transaction/${id}`);
    expect(json.transaction[0].events.map(({ status }) => status)).toEqual(['refund', 'paid', 'in_process', 'pending']);
  });

  it('happen after a restart, dated by their due time', async () => {
    const timers = createTestTimers();
    const first = await startTestSandbox([], { timers });
    const paths = [{ weight: 1, steps: [{ status: 'paid', after_s: [3_600, 3_600] }] }];
    await first.request('PATCH', '/sandbox/switches', { lives: { created: 'auto', cashin: paths } });
    const id = await create(first);
    await first[Symbol.asyncDispose]();
    await timers.advance(2 * 3_600_000);
    await using second = await startTestSandbox([], { database: first.database, timers });
    await eventually(
      async () => (await second.request('GET', `/api/v1/transaction/${id}`)).json.transaction[0].status === 'paid',
    );
    const { events } = (await second.request('GET', `/api/v1/transaction/${id}`)).json.transaction[0];
    const [paid = '', pending = ''] = events.map(({ date_created }) => date_created);
    const apart = Date.parse(`${paid.replace(' ', 'T')}Z`) - Date.parse(`${pending.replace(' ', 'T')}Z`);
    // both in whole seconds
    expect(apart).toBeGreaterThanOrEqual(3_600_000);
    expect(apart).toBeLessThanOrEqual(3_601_000);
  });

  it('are dropped once a person has decided', async () => {
    const timers = createTestTimers();
    await using sandbox = await startTestSandbox([], { timers });
    const paths = [{ weight: 1, steps: [{ status: 'paid', after_s: [60, 60] }] }];
    await sandbox.request('PATCH', '/sandbox/switches', { lives: { created: 'auto', cashin: paths } });
    const id = await create(sandbox);
    const planned = () => sandbox.sandbox.db.selectFrom('steps').select('status').execute();
    expect(await planned()).toEqual([{ status: 'paid' }]);
    await sandbox.request('GET', `/checkout/transaction/${id}/change/canceled`);
    await timers.advance(60_000);
    await eventually('the step', async () => (await planned()).length === 0);
    const { json } = await sandbox.request('GET', `/api/v1/transaction/${id}`);
    expect(json.transaction[0].events.map(({ status }) => status)).toEqual(['canceled', 'pending']);
  });

  it('come from the traffic generator too, at its rate, of both kinds', async () => {
    // advance the time through 200 waits of the generator
    const gapsMs: number[] = [];
    const ended = Promise.withResolvers<void>();
    const sleep: Timers['sleep'] = async (ms, { signal }) => {
      if (gapsMs.length === 200) {
        signal.addEventListener('abort', () => ended.resolve());
        return await ended.promise;
      }
      gapsMs.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
    };
    await using sandbox = await startTestSandbox(['--rate', '100/s'], { timers: { ...createTestTimers(), sleep } });
    const { json } = await eventually('200 transactions', async () => {
      const answer = await sandbox.request('GET', '/api/v1/transactions');
      return answer.json.total === 200 && answer;
    });
    const perSecond = (200 / gapsMs.reduce((sum, ms) => sum + ms, 0)) * 1_000;
    expect(perSecond).toBeGreaterThan(75);
    expect(perSecond).toBeLessThan(125);
    expect(new Set(json.transactions.map(({ operation }) => operation))).toEqual(new Set(['cashin', 'cashout']));
  });
});
