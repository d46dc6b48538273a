import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { providerRequestSeconds, providerRequests } from '../../../src/metrics/metrics.ts';
import { createProviderClient, type ProviderClient } from '../../../src/provider/client.ts';
import type { TokenGrant } from '../../../src/provider/schedule-requests.ts';
import { createAgent } from '../../../src/provider/send-request.ts';
import { CHARGE, makeDay, makeRow, PLATFORM } from '../../support/make-provider-rows.ts';
import { type Fault, PROVIDER_KEY, type SeenRequest, TestProvider } from '../../support/test-provider.ts';
import { createTestTimers } from '../../support/test-timers.ts';

let provider: TestProvider;
let client: ProviderClient;
const stop = new AbortController();
/** Back-off passes at once. */
const timers = createTestTimers();
const hurry = setInterval(() => void timers.advance(500), 5);

beforeAll(async () => {
  provider = await new TestProvider().listen();
});
afterAll(async () => {
  clearInterval(hurry);
  stop.abort();
  await provider[Symbol.asyncDispose]();
});
beforeEach(async () => {
  provider.rows.clear();
  provider.reset();
  client = createProviderClient({ url: provider.url, apiKey: PROVIDER_KEY, signal: stop.signal, timers });
});

/** Each fault once, in order, on requests of a kind. */
function failWith(...faults: Fault[]): void {
  provider.switches.fault = (seen: SeenRequest) => faults[seen.nth - 1];
}

test('requests are counted by operation and outcome, repeats included', async () => {
  const read = async () => {
    const { values } = await providerRequests.get();
    return new Map(values.map(({ labels, value }) => [`${labels.operation} ${labels.outcome}`, value]));
  };
  const timed = async () =>
    (await providerRequestSeconds.get()).values.find(
      ({ metricName, labels }) => metricName?.endsWith('_count') && labels.operation === 'show',
    )?.value ?? 0;
  const [before, timedBefore] = [await read(), await timed()];
  const row = makeRow();
  provider.add(row);
  failWith({ status: 503 }, { status: 429 });
  await client.show(row.id);
  provider.reset();
  await client.show('no-such-id');
  await client.listPage({}, 1);
  const added = [...(await read())].map(([series, value]) => [series, value - (before.get(series) ?? 0)]);
  expect(Object.fromEntries(added.filter(([, value]) => value !== 0))).toEqual({
    'show unavailable': 1,
    'show rate_limited': 1,
    'show ok': 1,
    'show not_found': 1,
    'list ok': 1,
  });
  expect((await timed()) - timedBefore).toBe(4);
});

describe('show', () => {
  test.each([false, true])('reads a transaction from an array and from an object (%s)', async (showsObject) => {
    const row = makeRow({ history: ['in_process', 'paid'], amount: '12.34' });
    provider.add(row);
    provider.switches.showsObject = showsObject;
    const shown = await client.show(row.id);
    expect(shown).toMatchObject({ ok: true, transaction: { id: row.id, amountCents: 1234n, status: 'paid' } });
    expect(shown?.ok && shown.transaction.events.map((event) => event.status)).toEqual([
      'pending',
      'in_process',
      'paid',
    ]);
  });

  test.each([400, 403, 404, 410, 422])('reads a %i as an unknown id', async (status) => {
    failWith({ status });
    expect(await client.show('some-id')).toBeUndefined();
    expect(provider.requests).toHaveLength(1);
  });

  test('reads an empty answer as an unknown id', async () => {
    failWith({ text: '{"transaction":[]}' });
    expect(await client.show('some-id')).toBeUndefined();
  });

  test('reports a refused key at a 401, after one try', async () => {
    failWith({ status: 401 });
    await expect(client.show('some-id')).rejects.toMatchObject({ code: 'provider_unauthorized', status: 401 });
    expect(provider.requests).toHaveLength(1);
  });

  test.each([408, 425, 429, 500, 502, 503])('retries after a %i', async (status) => {
    const row = makeRow();
    provider.add(row);
    failWith({ status });
    expect((await client.show(row.id))?.ok).toBe(true);
    expect(provider.requests).toHaveLength(2);
  });

  test('tries no more often than `triesMax`, and throws the last error', async () => {
    failWith({ status: 500 }, { status: 503 }, { status: 500 });
    await expect(client.show('x', { triesMax: 2 })).rejects.toMatchObject({
      code: 'provider_unavailable',
      status: 503,
    });
    expect(provider.requests).toHaveLength(2);
  });

  test('refuses a transaction with another id than requested', async () => {
    const row = makeRow();
    provider.add(row);
    provider.patches.set(row.id, { id: makeRow().id });
    await expect(client.show(row.id, { triesMax: 1 })).rejects.toMatchObject({ code: 'provider_unreadable' });
  });

  test('percent-encodes an id: no stranger chooses the path', async () => {
    expect(await client.show('../transactions?page=1')).toBeUndefined();
    expect(provider.requests[0]).toMatchObject({
      kind: 'show',
      path: '/api/v1/transaction/..%2Ftransactions%3Fpage%3D1',
    });
  });

  test('returns an unreadable row raw, with the reason and without its values', async () => {
    const row = makeRow({ amount: '10.005', name: 'Segredo' });
    provider.add(row);
    const shown = await client.show(row.id);
    expect(shown).toMatchObject({ ok: false, id: row.id, createdWall: row.date_created });
    expect(shown?.ok === false && shown.reason).toMatch(/^amount: /);
    expect(shown?.ok === false && shown.reason).not.toMatch(/10\.005|Segredo/);
  });
});

describe('answers that are none', () => {
  const faults: [string, Fault, string][] = [
    ['a connection cut before the answer', { cut: 'before' }, 'provider_unavailable'],
    ['a connection cut within the body', { cut: 'within' }, 'provider_unavailable'],
    ['malformed JSON', { text: '{"transaction":' }, 'provider_unreadable'],
    ['HTML with a 200', { text: '<html>maintenance</html>' }, 'provider_unreadable'],
    ['two transactions for one', { text: '{"transaction":[{},{}]}' }, 'provider_unreadable'],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, 'provider_unreadable'],
    ['an empty 503', { text: '', status: 503 }, 'provider_unavailable'],
  ];

  test.each(faults)('%s is retried, and is a typed error in the end', async (_, fault, code) => {
    const row = makeRow();
    provider.add(row);
    failWith(fault);
    expect((await client.show(row.id))?.ok).toBe(true);
    provider.reset();
    failWith(fault);
    await expect(client.show(row.id, { triesMax: 1 })).rejects.toMatchObject({ name: 'ConfereError', code });
  });

  test('a body that never ends is cut off', async () => {
    const impatient = createAgent(2, { bodyMs: 100, headersMs: 100 });
    const hurried = createProviderClient({
      url: provider.url,
      apiKey: PROVIDER_KEY,
      signal: stop.signal,
      agent: impatient,
    });
    failWith({ hang: true }, { drip: '{"transaction":[]}', everyMs: 2000 });
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(hurried.show('x', { triesMax: 1 })).rejects.toMatchObject({ code: 'provider_unavailable' });
    }
    await impatient.destroy();
  });

  test('an answer larger than any page may be is not read into memory', async () => {
    failWith({ text: `{"transaction":["${'x'.repeat(33 * 1024 * 1024)}"]}` });
    await expect(client.show('x', { triesMax: 1 })).rejects.toMatchObject({ code: 'provider_unavailable' });
  });

  test('an error never quotes what was answered', async () => {
    failWith({ status: 422, body: { error: 17, message: 'Documento 52998224725 inválido' } });
    const error: unknown = await client.createCashin(CHARGE).catch((fault: unknown) => fault);
    expect(String(error)).not.toMatch(/52998224725/);
  });
});

describe('list', () => {
  test('asks for a page with its filters and takes nothing but the number from next_page_url', async () => {
    const foreign = { hits: 0 };
    const other = createServer((_, response) => {
      foreign.hits++;
      response.end('{}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    provider.switches.next = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    provider.add(...makeDay('2026-03-01', 150));
    const query = {
      initialDate: '2026-03-01',
      finalDate: '2026-03-01',
      platform: PLATFORM,
      reference: '',
      status: 'paid',
    };
    const first = await client.listPage(query, 1);
    expect(first).toMatchObject({ page: 1, total: 150, lastPage: 2, nextPage: 2 });
    expect(first?.rows).toHaveLength(100);
    expect((await client.listPage(query, first?.nextPage ?? 0))?.rows).toHaveLength(50);
    expect(Object.fromEntries(provider.requests[1]?.query ?? [])).toEqual({
      initial_date: '2026-03-01',
      final_date: '2026-03-01',
      platform: PLATFORM,
      status: 'paid',
      page: '2',
    });
    expect(foreign.hits).toBe(0);
    await new Promise((resolve) => other.close(resolve));
  });

  test('takes a total that is text, and refuses one that is none', async () => {
    provider.add(...makeDay('2026-03-01', 3));
    provider.switches.total = (rows) => String(rows);
    expect((await client.listPage({}, 1))?.total).toBe(3);
    for (const total of [null, '', -1, 1.5, 'many', [], undefined]) {
      provider.reset();
      provider.switches.total = () => total;
      provider.switches.fault = (seen) => (seen.nth > 1 ? { status: 401 } : undefined);
      await expect(client.listPage({}, 1), String(total)).rejects.toMatchObject({ code: 'provider_unauthorized' });
    }
  });

  test.each([404, 422] as const)(
    'takes a %i beyond the end as no page, and on the first page as a fault',
    async (beyond) => {
      provider.switches.pastEnd = beyond;
      expect(await client.listPage({}, 2)).toBeUndefined();
      failWith({ status: 200 }, { status: beyond });
      const code = beyond === 404 ? 'provider_not_found' : 'provider_rejected';
      await expect(client.listPage({}, 1)).rejects.toMatchObject({ code });
    },
  );

  test.each([401, 403])('a %i stops: it is about the key', async (status) => {
    failWith({ status });
    await expect(client.listPage({}, 1)).rejects.toMatchObject({ code: 'provider_unauthorized', status });
    expect(provider.requests).toHaveLength(1);
  });

  test('after a 429 no request is sent before Retry-After, not even those that waited for a slot', async () => {
    provider.add(...makeDay('2026-03-01', 10));
    const slow = createTestTimers();
    slow.freeze();
    const isPaused = Promise.withResolvers<void>();
    const after: typeof slow.after = (ms, run) => {
      isPaused.resolve();
      return slow.after(ms, run);
    };
    const of = { url: provider.url, apiKey: PROVIDER_KEY, signal: stop.signal, timers: { ...slow, after } };
    const sentAt: number[] = [];
    await using owner = createProviderClient(of);
    const paused = owner.withPriority('verification', () => sentAt.push(slow.monotonicMs()));
    const beganMs = slow.monotonicMs();
    // one at a time: each release admits the next request
    for (let halving = 0; halving < 2; halving++) {
      paused.scheduler.release(await paused.scheduler.acquire(stop.signal), 'overloaded');
    }
    provider.switches.fault = (seen) => (seen.nth === 1 ? { status: 429, headers: { 'retry-after': '2' } } : undefined);
    const pages = Promise.all(Array.from({ length: 12 }, (_, index) => paused.listPage({}, index + 1)));
    await isPaused.promise;
    await slow.advance(1_999);
    const passing = setInterval(() => void slow.advance(500), 5);
    await pages;
    clearInterval(passing);
    const [first, ...later] = sentAt.map((ms) => ms - beganMs);
    expect([first, later.length]).toEqual([0, 12]);
    expect(Math.min(...later)).toBeGreaterThanOrEqual(2_000);
  });

  test('every request carries the key and asks for JSON', async () => {
    await client.listPage({}, 1);
    await client.show('x');
    await client.createCashin(CHARGE);
    expect(provider.requests).toHaveLength(3);
    for (const { headers } of provider.requests) {
      expect(headers).toMatchObject({ accept: 'application/json', authorization: `Bearer ${PROVIDER_KEY}` });
    }
    expect(provider.requests[2]?.headers['content-type']).toBe('application/json');
  });
});

describe('the date of a request', () => {
  test('is the time it is sent, after the wait for a slot', async () => {
    const row = makeRow();
    provider.add(row);
    const turn = Promise.withResolvers<TokenGrant>();
    let clock = 0;
    await using waiting = createProviderClient({
      ...{ url: provider.url, apiKey: PROVIDER_KEY, signal: stop.signal },
      tokenBucket: { take: () => turn.promise },
      now: () => new Date(clock),
    });
    const asked = [waiting.show(row.id), waiting.listPage({}, 1), waiting.createCashin(CHARGE)];
    expect(provider.requests).toEqual([]);
    clock = 5_000;
    turn.resolve({ tokens: asked.length });
    const answers = await Promise.all(asked);
    expect(answers.map((answer) => answer?.askedAt.getTime())).toEqual([5_000, 5_000, 5_000]);
  });

  test('is taken anew for each try', async () => {
    const row = makeRow();
    provider.add(row);
    let seconds = 0;
    await using client = createProviderClient({
      ...{ url: provider.url, apiKey: PROVIDER_KEY, signal: stop.signal },
      now: () => new Date(++seconds * 1000),
    });
    failWith({ status: 500 });
    expect((await client.show(row.id))?.askedAt.getTime()).toBe(2000);
    expect(provider.count('show')).toBe(2);
  });
});
