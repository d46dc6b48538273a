import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { writeArrivals } from '../../../src/inbox/receive/write-arrivals.ts';
import { workInbox } from '../../../src/inbox/verify/work-inbox.ts';
import { createProviderClient } from '../../../src/provider/client.ts';
import { eventually } from '../../support/eventually.ts';
import { makeRow, type ProviderRow } from '../../support/make-provider-rows.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { PROVIDER_KEY, TestProvider } from '../../support/test-provider.ts';

const stack = new AsyncDisposableStack();
let context: Context;
let provider: TestProvider;

beforeAll(async () => {
  context = stack.use(await openTestContext({ WEBHOOK_GRACE: '1m' }));
  provider = stack.use(await new TestProvider().listen());
});
afterAll(() => stack.disposeAsync());

beforeEach(() => {
  provider.rows.clear();
  provider.reset();
  provider.switches.beforeResponse = () => sleep(20);
});

function make(count: number, day: string, history = ['paid']): ProviderRow[] {
  const rows = Array.from({ length: count }, () => makeRow({ created: `${day} 12:00:00`, history }));
  provider.add(...rows);
  return rows;
}

/** Pays a transaction and calls `meanwhile` while the first request for it is under way, which is answered as it was. */
function payDuringShow(row: ProviderRow, meanwhile: () => Promise<void>): void {
  provider.switches.beforeResponse = async ({ nth }) => {
    if (nth > 1) return;
    provider.put(structuredClone(row));
    provider.addEvent(row.id, 'paid');
    await meanwhile();
  };
  provider.switches.fault = ({ nth }) => (nth > 1 ? undefined : { status: 200, body: { transaction: [row] } });
}

async function announce(
  ones: ProviderRow[],
  claims: (one: ProviderRow) => object = (one) => ({ date_created: one.date_created }),
) {
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
  await using client = createProviderClient({ url: provider.url, apiKey: PROVIDER_KEY, signal: stop.signal });
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

async function countApplied(ones: ProviderRow[]): Promise<number> {
  const ids = ones.map((one) => one.id);
  const rows = await context.db
    .selectFrom('transactions')
    .select('id')
    .where('id', 'in', ids)
    .where('status', '=', 'paid')
    .execute();
  return rows.length;
}

describe('a burst of webhooks', () => {
  it('is looked up in the pages of its days, not one by one', async () => {
    const ones = [...make(700, '2026-10-01'), ...make(500, '2026-10-02')];
    await announce(ones);
    await workOff();
    expect(await countApplied(ones)).toBe(1_200);
    // what was claimed before the burst was known is shown
    expect(provider.count('show')).toBeLessThan(600);
    expect(provider.count('list')).toBeLessThan(30);
  });

  it('is looked up likewise where the dates that bound the list are not in it', async () => {
    Object.assign(provider.switches, { fromBound: 'exclusive', toBound: 'exclusive' });
    const ones = make(900, '2026-10-05');
    await announce(ones);
    await workOff();
    expect(await countApplied(ones)).toBe(900);
    expect(provider.count('show')).toBeLessThan(500);
  });

  it('is shown one by one where the days that it claims are wrong, with few pages lost', async () => {
    make(1_000, '2026-10-11');
    const ones = make(600, '2026-10-10');
    await announce(ones, () => ({ date_created: '2026-10-11 08:00:00' }));
    await workOff();
    expect(await countApplied(ones)).toBe(600);
    expect(provider.count('show')).toBe(600);
    expect(provider.count('list')).toBeLessThan(100);
  });

  it('is fetched one by one where its days are unknown', async () => {
    const ones = make(450, '2026-10-15');
    await announce(ones, () => ({}));
    await workOff();
    expect([await countApplied(ones), provider.count('list')]).toEqual([450, 0]);
  });
});

describe('many webhooks of one transaction', () => {
  it('need one show, however many claims they take', async () => {
    const [one] = make(1, '2026-10-20');
    if (!one) throw new Error('unreachable');
    await announce(Array.from({ length: 500 }, () => one));
    await workOff();
    expect(await countApplied([one])).toBe(1);
    // one for what was there, one for what was split meanwhile
    expect(provider.count('show')).toBeLessThanOrEqual(5);
  });

  it('are fetched again when they arrive after the request under way was sent', async () => {
    const [one] = make(1, '2026-10-21', []);
    if (!one) throw new Error('unreachable');
    await announce([one]);
    payDuringShow(one, () => announce([{ ...one, status: 'paid' }]));
    await workOff();
    expect(await countApplied([one])).toBe(1);
  });

  it('are fetched again also when the same bytes arrive again meanwhile', async () => {
    const [one] = make(1, '2026-10-22', []);
    if (!one) throw new Error('unreachable');
    const same = () => announce([one], () => ({ nonce: 'the same' }));
    await same();
    payDuringShow(one, same);
    await workOff();
    expect(await countApplied([one])).toBe(1);
    expect(provider.count('show')).toBe(2);
  });
});
