import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { writeArrivals } from '../../../src/inbox/receive/write-arrivals.ts';
import { workInbox } from '../../../src/inbox/verify/work-inbox.ts';
import { createProviderClient } from '../../../src/provider/client.ts';
import { eventually } from '../../support/eventually.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { API_KEY } from '../../support/start-serve.ts';

type Shown = { id: string; date_created: string; status: string };

const stack = new AsyncDisposableStack();
const shown = new Map<string, Shown>();
const asked = { shows: new Map<string, number>(), pages: 0 };
let context: Context;
let url: string;
/** Bounds of the list's dates: whether the days named are in it. */
let exclusive = false;
/** Happens once, between a request to the provider and its response. */
let beforeAnswer: (() => Promise<void>) | undefined;

beforeAll(async () => {
  context = stack.use(await openTestContext({ WEBHOOK_GRACE: '1m' }));
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://provider');
    const answer = pathname.startsWith('/api/v1/transaction/') ? show(pathname) : list(searchParams);
    const text = JSON.stringify(answer ?? {});
    const meanwhile = beforeAnswer?.() ?? sleep(20);
    beforeAnswer = undefined;
    void meanwhile.then(() => response.writeHead(answer ? 200 : 404).end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void server.close());
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => stack.disposeAsync());

beforeEach(() => {
  shown.clear();
  asked.shows.clear();
  asked.pages = 0;
  exclusive = false;
});

function show(pathname: string): object | undefined {
  const id = pathname.split('/').at(-1) ?? '';
  asked.shows.set(id, (asked.shows.get(id) ?? 0) + 1);
  const one = shown.get(id);
  return one && { transaction: [present(one)] };
}

function list(search: URLSearchParams): object {
  asked.pages++;
  const [from, to, page] = [
    search.get('initial_date') ?? '',
    search.get('final_date') ?? '',
    Number(search.get('page')),
  ];
  const rows = [...shown.values()].filter(({ date_created }) => {
    const day = date_created.slice(0, 10);
    return exclusive ? day > from && day < to : day >= from && day <= to;
  });
  const last_page = Math.max(1, Math.ceil(rows.length / 100));
  return { transactions: rows.slice((page - 1) * 100, page * 100).map(present), total: rows.length, last_page };
}

function present({ id, date_created, status }: Shown) {
  const events = [status, 'pending'].map((one) => ({ status: one, date_created }));
  return { id, operation: 'cashin', status, amount: '10.00', commission: '0.10', date_created, events };
}

function make(count: number, day: string, status = 'paid'): Shown[] {
  return Array.from({ length: count }, () => {
    const one = { id: randomUUID(), date_created: `${day} 12:00:00`, status };
    shown.set(one.id, one);
    return one;
  });
}

async function announce(ones: Shown[], claims: (one: Shown) => object = (one) => ({ date_created: one.date_created })) {
  const arrivals = ones.map((one) => {
    const body = Buffer.from(
      JSON.stringify({ transaction_id: one.id, status: one.status, nonce: randomUUID(), ...claims(one) }),
    );
    const hash = createHash('sha256').update(body).digest();
    return { body, hash, address: '127.0.0.1', headers: {}, defect: undefined, receivedAt: context.clock.now() };
  });
  for (let at = 0; at < arrivals.length; at += 200) await writeArrivals(context, arrivals.slice(at, at + 200));
}

/** Works the inbox off until nothing waits. */
async function workOff(): Promise<void> {
  const stop = new AbortController();
  await using client = createProviderClient({ url, apiKey: API_KEY, signal: stop.signal });
  const worker = workInbox({ ...context, signal: stop.signal }, client);
  await eventually(async () => {
    const waits = await context.db
      .selectFrom('webhooks')
      .select('seq')
      .where('state', 'in', ['received', 'pending'])
      .limit(1)
      .execute();
    return waits.length === 0;
  });
  stop.abort();
  await worker;
}

async function countApplied(ones: Shown[]): Promise<number> {
  const ids = ones.map((one) => one.id);
  const rows = await context.db
    .selectFrom('transactions')
    .select('id')
    .where('id', 'in', ids)
    .where('status', '=', 'paid')
    .execute();
  return rows.length;
}

function countShows(): number {
  return asked.shows.values().reduce((sum, count) => sum + count, 0);
}

describe('a burst of webhooks', () => {
  it('is looked up in the pages of its days, not one by one', async () => {
    const ones = [...make(1_100, '2026-10-01'), ...make(900, '2026-10-02')];
    await announce(ones);
    await workOff();
    expect(await countApplied(ones)).toBe(2_000);
    // what was claimed before the burst was known is shown
    expect(countShows()).toBeLessThan(1_000);
    expect(asked.pages).toBeLessThan(30);
  });

  it('is looked up likewise where the dates that bound the list are not in it', async () => {
    exclusive = true;
    const ones = make(1_500, '2026-10-05');
    await announce(ones);
    await workOff();
    expect(await countApplied(ones)).toBe(1_500);
    expect(countShows()).toBeLessThan(1_000);
  });

  it('is shown one by one where the days that it claims are wrong, with few pages lost', async () => {
    make(2_000, '2026-10-11');
    const ones = make(1_000, '2026-10-10');
    await announce(ones, () => ({ date_created: '2026-10-11 08:00:00' }));
    await workOff();
    expect(await countApplied(ones)).toBe(1_000);
    expect(countShows()).toBe(1_000);
    expect(asked.pages).toBeLessThan(100);
  });

  it('is fetched one by one where its days are unknown', async () => {
    const ones = make(700, '2026-10-15');
    await announce(ones, () => ({}));
    await workOff();
    expect([await countApplied(ones), asked.pages]).toEqual([700, 0]);
  });
});

describe('many webhooks of one transaction', () => {
  it('need one show, however many claims they take', async () => {
    const [one] = make(1, '2026-10-20');
    if (!one) throw new Error('unreachable');
    await announce(Array.from({ length: 900 }, () => one));
    await workOff();
    expect(await countApplied([one])).toBe(1);
    // one for what was there, one for what was split meanwhile
    expect(countShows()).toBeLessThanOrEqual(5);
  });

  it('are fetched again when they arrive after the request under way was sent', async () => {
    const [one] = make(1, '2026-10-21', 'pending');
    if (!one) throw new Error('unreachable');
    await announce([one]);
    beforeAnswer = async () => {
      shown.set(one.id, { ...one, status: 'paid' });
      await announce([{ ...one, status: 'paid' }]);
    };
    await workOff();
    expect(await countApplied([one])).toBe(1);
  });

  it('are fetched again also when the same bytes arrive again meanwhile', async () => {
    const [one] = make(1, '2026-10-22', 'pending');
    if (!one) throw new Error('unreachable');
    const same = () => announce([one], () => ({ nonce: 'the same' }));
    await same();
    beforeAnswer = async () => {
      shown.set(one.id, { ...one, status: 'paid' });
      await same();
    };
    await workOff();
    expect(await countApplied([one])).toBe(1);
    expect(countShows()).toBe(2);
  });
});
