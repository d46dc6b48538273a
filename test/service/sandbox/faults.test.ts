import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { CASHIN, startTestSandbox, type TestSandbox } from '../../support/start-test-sandbox.ts';
import { createTestTimers } from '../../support/test-timers.ts';

const LIST = '/api/v1/transactions';
const CASHIN_PATH = '/api/v1/transaction/pix/cashin';

let sandbox: TestSandbox;
const timers = createTestTimers();
/** Pauses that the sandbox started, in ms. */
const pauses: number[] = [];

beforeAll(async () => {
  timers.freeze();
  const sleep: typeof timers.sleep = (ms, options) => {
    pauses.push(ms);
    return timers.sleep(ms, options);
  };
  sandbox = await startTestSandbox([], { timers: { ...timers, sleep } });
  await sandbox.request('POST', CASHIN_PATH, CASHIN);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

async function switchOn(...faults: object[]): Promise<void> {
  const { status } = await sandbox.request('PUT', '/sandbox/switches', { faults, lives: { created: 'manual' } });
  expect(status).toBe(200);
}

describe('faults', () => {
  it('answer with a status, and Retry-After if it is set', async () => {
    await switchOn({ kind: 'status', status: 429, retry_after_s: 7 });
    const { status, headers, json } = await sandbox.request('GET', LIST);
    expect([status, headers.get('retry-after'), json.error]).toEqual([429, '7', 429]);
  });

  it('apply to one route, after a number of requests, a number of times', async () => {
    await switchOn({ kind: 'status', on: 'list', after: 2, times: 3 });
    const codes: number[] = [];
    for (let i = 0; i < 7; i++) codes.push((await sandbox.request('GET', LIST)).status);
    expect(codes).toEqual([200, 200, 500, 500, 500, 200, 200]);
    expect((await sandbox.request('POST', CASHIN_PATH, CASHIN)).status).toBe(200);
  });

  it('come in bursts', async () => {
    await switchOn({ kind: 'status', status: 503, share: 0.2, burst: 5 });
    let codes = '';
    for (let i = 0; i < 100; i++) codes += (await sandbox.request('GET', LIST)).status === 503 ? 'x' : '.';
    expect(codes).toContain('xxxxx');
    expect(codes).toContain('.');
  });

  it('limit the rate: the request over the limit gets Retry-After', async () => {
    await switchOn({ kind: 'rate_limit', requests: 5, per_s: 1, retry_after_s: 1 });
    const codes: number[] = [];
    for (let i = 0; i < 6; i++) codes.push((await sandbox.request('GET', LIST)).status);
    expect(codes).toEqual([200, 200, 200, 200, 200, 429]);
    await timers.advance(999);
    expect((await sandbox.request('GET', LIST)).status).toBe(429);
    await timers.advance(1);
    expect((await sandbox.request('GET', LIST)).status).toBe(200);
  });

  it('delay the answer', async () => {
    await switchOn({ kind: 'slow', on: 'list', delay_ms: 300 });
    let isAnswered = false;
    const slow = sandbox.request('GET', LIST).finally(() => {
      isAnswered = true;
    });
    await eventually('the pause', () => pauses.includes(300));
    await timers.advance(299);
    // a later request is answered first
    expect((await sandbox.request('GET', '/api/v1/transaction/none')).status).toBe(404);
    expect(isAnswered).toBe(false);
    await timers.advance(1);
    expect((await slow).status).toBe(200);
  });

  it('cut the connection in the middle of an answer', async () => {
    await switchOn({ kind: 'cut' });
    await expect(sandbox.request('GET', LIST)).rejects.toThrow();
  });

  it.each(['hang', 'cut'])('that %s keep the created transaction', async (kind) => {
    await switchOn({ kind, on: 'cashin' });
    const reference = `lost-${kind}`;
    const gone = new AbortController();
    const create = fetch(sandbox.url + CASHIN_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ ...CASHIN, reference }),
      signal: gone.signal,
    }).then((response) => response.text());
    const refused = expect(create).rejects.toThrow();
    await eventually('the transaction', async () => {
      const { json } = await sandbox.request('GET', `${LIST}?reference=${reference}`);
      return json.total === 1;
    });
    gone.abort();
    await refused;
  });

  it('send malformed pages', async () => {
    const answers: Record<string, string> = {};
    for (const as of ['truncated', 'html', 'empty', 'wrong_shape']) {
      await switchOn({ kind: 'malformed', as });
      answers[as] = (await sandbox.request('GET', LIST)).text;
    }
    expect(() => JSON.parse(answers.truncated ?? '')).toThrow();
    expect(answers.html).toContain('<html>');
    expect(answers.empty).toBe('');
    expect(JSON.parse(answers.wrong_shape ?? '').transactions).toBe('none');
  });

  it('never apply before the key is checked', async () => {
    await switchOn({ kind: 'status', status: 500 });
    expect((await sandbox.request('GET', LIST, undefined, { authorization: undefined })).status).toBe(401);
  });
});

describe('the switches', () => {
  it('are shown, changed one by one, or set all at once', async () => {
    await switchOn();
    await sandbox.request('PATCH', '/sandbox/switches', { list: { order: 'created_asc' }, webhooks: { lose: 0.25 } });
    const turned = JSON.parse((await sandbox.request('GET', '/sandbox/switches')).text);
    expect(turned).toMatchObject({
      list: { order: 'created_asc', dates: 'inclusive' },
      webhooks: { lose: 0.25, repeat: 0 },
    });
    await sandbox.request('PUT', '/sandbox/switches', { webhooks: { repeat: 0.5 } });
    const set = JSON.parse((await sandbox.request('GET', '/sandbox/switches')).text);
    expect(set).toMatchObject({ list: { order: 'created_desc' }, webhooks: { lose: 0, repeat: 0.5 } });
  });

  it('refuse unknown names with their path, and stay unchanged', async () => {
    await switchOn();
    const before = (await sandbox.request('GET', '/sandbox/switches')).text;
    for (const [wrong, place] of [
      [{ list: { order: 'sideways' } }, 'list.order'],
      [{ webhooks: { lose: 2 } }, 'webhooks.lose'],
      [{ faults: [{ kind: 'meteor' }] }, 'faults.0.kind'],
      [{ lists: {} }, 'body'],
    ] as const) {
      const { status, json } = await sandbox.request('PATCH', '/sandbox/switches', wrong);
      expect([status, Object.keys(json.errors)]).toEqual([422, [place]]);
    }
    expect((await sandbox.request('GET', '/sandbox/switches')).text).toBe(before);
  });

  it('are set by a built-in scenario', async () => {
    const { text } = await sandbox.request('POST', '/sandbox/scenarios/lost-webhooks');
    expect(JSON.parse(text)).toMatchObject({ webhooks: { lose: 0.5 } });
    expect((await sandbox.request('POST', '/sandbox/scenarios/none')).status).toBe(404);
    await switchOn();
  });
});
