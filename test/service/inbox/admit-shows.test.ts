import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claimItems } from '../../../src/inbox/items/claim-items.ts';
import { reprocessWebhook } from '../../../src/inbox/items/quarantine.ts';
import { FIRST_IDS, SENDER_SHOWS_PER_HOUR } from '../../../src/inbox/receive/plan-shows.ts';
import { createReceiver } from '../../../src/inbox/receive/receive.ts';
import { splitWebhooks } from '../../../src/inbox/split/split-webhooks.ts';
import { createShowBudget } from '../../../src/inbox/verify/admit-shows.ts';
import { retryLearntItems } from '../../../src/inbox/verify/retry-learnt-items.ts';
import { workInbox } from '../../../src/inbox/verify/work-inbox.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { createProviderClient } from '../../../src/provider/client.ts';
import { eventually } from '../../support/eventually.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { type InboxEnvironment, openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { makeShownTransaction } from '../../support/read-ledger-state.ts';
import { API_KEY } from '../../support/start-serve.ts';

const PAID = ['pending@0', 'paid@1'];
const STRANGER = '203.0.113.66';
const PROVIDER = '198.51.100.7';

let env: InboxEnvironment;
beforeEach(async () => {
  env = await openInboxEnvironment({ WEBHOOK_GRACE: '10m' });
});
afterEach(() => env[Symbol.asyncDispose]());

const unknownIds = (count: number) =>
  Array.from({ length: count }, () => ({ transaction_id: randomUUID(), status: 'paid' }));
const requests = (): number => env.provider.requests.length;

function paid(more: Partial<ShownTransaction> = {}): ShownTransaction {
  return env.provider.put(makeShownTransaction(PAID, { id: randomUUID(), ...more }));
}

/** Sends a webhook whose transaction the provider knows, which records a hit. */
async function hit(address: string): Promise<void> {
  const { id } = await env.receive({ transaction_id: paid().id, status: 'paid' }, address);
  await env.waitForState(id, 'applied');
}

/** Lets minutes pass until a webhook is quarantined; none during a fetch, whose lease would run out. */
async function untilQuarantined(id: string): Promise<void> {
  await eventually('the grace is over', async () => {
    const { db } = env.context;
    const leased = await db
      .selectFrom('webhook_items')
      .select('seq')
      .where('lease_until', 'is not', null)
      .executeTakeFirst();
    if (leased) return undefined;
    await env.timers.advance(60_000);
    return (await env.webhook(id)).state === 'quarantined' ? true : undefined;
  });
}

/** Waits until each of the first items of all bodies had this many fetches. @param stepMs lets time pass meanwhile. */
async function awaitFetches(count: number, stepMs = 0): Promise<void> {
  await eventually(`${count} fetches each`, async () => {
    if (stepMs > 0) await env.timers.advance(stepMs);
    const apart = await env.context.db
      .selectFrom('webhooks')
      .select('seq')
      .where('state', '=', 'received')
      .limit(1)
      .execute();
    if (apart.length > 0) return undefined;
    const left = await env.context.db
      .selectFrom('webhook_items')
      .select('seq')
      .where('looks', '<', count)
      .where('position', '<', FIRST_IDS)
      .where('state', '=', 'pending')
      .limit(1)
      .execute();
    return left.length === 0 ? true : undefined;
  });
}

test('unknown ids of senders without a hit delay no genuine webhook, with a slow provider too', async () => {
  await hit(PROVIDER);
  const genuine = paid();
  const held = Promise.withResolvers<void>();
  env.provider.switches.beforeResponse = async ({ path }) => {
    if (!path.endsWith(genuine.id)) await held.promise;
  };
  const before = requests();
  for (let body = 0; body < 30; body++) await env.receive(unknownIds(FIRST_IDS), STRANGER);
  await eventually('some are asked for', async () => requests() - before > 2 || undefined);
  const { id } = await env.receive({ transaction_id: genuine.id, status: 'paid' }, PROVIDER);
  expect(await env.waitForState(id, 'applied')).toMatchObject({ state: 'applied' });
  held.resolve();
});

describe('one body with a thousand unknown ids', () => {
  test.each([
    ['a sender with a hit', true],
    ['a sender without one', false],
  ])('buys ten shows for %s, none for the rest of its grace, and none for its repeat', async (_, hadHit) => {
    if (hadHit) await hit(STRANGER);
    const before = requests();
    const body = unknownIds(1_000);
    const { id } = await env.receive(body, STRANGER);
    await awaitFetches(1);
    expect(requests() - before).toBe(FIRST_IDS);
    expect(await env.receive(body, STRANGER)).toMatchObject({ duplicate: true });
    await untilQuarantined(id);
    expect(await env.webhook(id)).toMatchObject({ reason: 'unknown_at_provider', items: 1_000, repeats: 1 });
    await env.receive(body, STRANGER);
    // items are processed in order: once this webhook is applied, the repeat has been processed
    await hit(PROVIDER);
    expect(await env.webhook(id)).toMatchObject({ state: 'quarantined', repeats: 2 });
    expect(requests() - before).toBe(FIRST_IDS + 1);
  });

  test('buys no more than 100 requests a minute from a provider that fails', async () => {
    await hit(STRANGER);
    env.provider.switches.fault = () => ({ status: 503 });
    const before = requests();
    await env.receive(unknownIds(1_000), STRANGER);
    await eventually('they are asked for', () => requests() - before >= FIRST_IDS);
    for (let seconds = 0; seconds < 60; seconds++) {
      await env.timers.advance(1_000);
      await sleep(50);
    }
    expect(requests() - before).toBeGreaterThan(2 * FIRST_IDS);
    expect(requests() - before).toBeLessThanOrEqual(100);
  });

  test('that the list comes to show is applied, without more than 100 requests in any minute', async () => {
    await hit(PROVIDER);
    const rows = Array.from({ length: 40 }, () => makeShownTransaction(PAID, { id: randomUUID() }));
    const { id } = await env.receive(
      rows.map((row) => ({ transaction_id: row.id, status: 'paid' })),
      PROVIDER,
    );
    await awaitFetches(1);
    for (const row of rows) env.provider.put(row);
    await applyObservations(
      env.context,
      rows.map((row) => observe(row, env.context.clock.now())),
    );
    const before = requests();
    await retryLearntItems(env.context);
    await env.timers.advance(1_000);
    await eventually('the first ten are applied', async () => {
      await env.timers.advance(1_000);
      const { items_detail } = await env.webhook(id);
      return items_detail.filter(({ state }) => state === 'applied').length >= FIRST_IDS ? true : undefined;
    });
    expect(requests() - before).toBeLessThanOrEqual(2 * FIRST_IDS);
    await eventually('all are applied', async () => {
      // in steps that a lease outlives, while a show is in flight
      await env.timers.advance(2_000);
      return (await env.webhook(id)).state === 'applied' ? true : undefined;
    });
    // the ten that were denied at first, and one show for each
    expect(requests() - before).toBe(rows.length);
  });
});

describe('a body of many ids', () => {
  test('that the ledger knows, sent every 11 s, buys no more than 100 requests in a minute', async () => {
    await hit(PROVIDER);
    const rows = Array.from({ length: 150 }, () => paid());
    const body = rows.map((row) => ({ transaction_id: row.id, status: 'paid' }));
    await applyObservations(
      env.context,
      rows.map((row) => observe(row, env.context.clock.now())),
    );
    await env.receive(body, PROVIDER);
    await awaitFetches(1);
    const made: number[] = [];
    for (let seconds = 0; seconds < 187; seconds += 11) {
      const before = requests();
      await env.timers.advance(11_000);
      await env.receive(body, PROVIDER);
      await restful();
      made.push(requests() - before);
    }
    const minutes = made.map((_, index) => made.slice(index, index + 5).reduce((sum, one) => sum + one, 0));
    expect(Math.max(...minutes)).toBeLessThanOrEqual(100);
    // the first ten each time, and some of the others
    expect(made.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(made.length * FIRST_IDS);
  });

  test('that the ledger learns while they wait is applied then, and not fetched before', async () => {
    await hit(PROVIDER);
    const [last = paid(), ...others] = Array.from({ length: 12 }, () =>
      makeShownTransaction(PAID, { id: randomUUID() }),
    );
    const body = [...others, last].map((row) => ({ transaction_id: row.id, status: 'paid' }));
    const { id } = await env.receive(body, PROVIDER);
    await awaitFetches(1);
    for (let minutes = 0; minutes < 3; minutes++) {
      await env.timers.advance(60_000);
      await hit(PROVIDER);
    }
    const lastItem = async () => (await env.webhook(id)).items_detail.at(-1);
    expect(await lastItem()).toMatchObject({ state: 'pending', looks: 0 });
    env.provider.put(last);
    await applyObservations(env.context, [observe(last, env.context.clock.now())]);
    await retryLearntItems(env.context);
    await eventually('applied', async () => {
      await env.timers.advance(1_000);
      return (await lastItem())?.state === 'applied';
    });
    expect(env.provider.countShows(last.id)).toBe(1);
  });

  /** Waits until nothing is due or under way. */
  async function restful(): Promise<void> {
    await eventually('nothing is due', async () => {
      const now = env.context.clock.now();
      const due = await env.context.db
        .selectFrom('webhook_items')
        .select('seq')
        .where('state', '=', 'pending')
        .where((eb) => eb.or([eb('next_look_at', '<=', now), eb('lease_until', '>', now)]))
        .limit(1)
        .execute();
      return due.length === 0;
    });
  }
});

test('first ids of a new body are claimed before items that waited longer', async () => {
  await using context = await openTestContext();
  const receive = createReceiver(context, undefined);
  const post = async (ids: string[]): Promise<void> => {
    const body = Buffer.from(JSON.stringify(ids.map((id) => ({ transaction_id: id }))));
    await receive({ body, address: STRANGER, headers: {} });
    await splitWebhooks(context, 0);
  };
  await post(Array.from({ length: 50 }, () => randomUUID()));
  const ago = new Date(context.clock.now().getTime() - 60_000);
  await context.db
    .updateTable('webhook_items')
    .set({ next_look_at: ago, looks: sql`IF(position < ${FIRST_IDS}, 1, 0)` })
    .execute();
  const genuine = randomUUID();
  await post([genuine]);
  const [first, ...others] = await claimItems(context, 5);
  expect(first?.transactionId).toBe(genuine);
  expect(others).toHaveLength(4);
});

test('a fetch that several bodies share is charged to one with budget left: none exceeds its misses', async () => {
  await using context = await openTestContext();
  const receive = createReceiver(context, undefined);
  const ids = [randomUUID(), randomUUID()];
  // of the same two ids: one body has spent its denials, the other has one left
  for (const [address, misses] of [
    [STRANGER, [1, 9]],
    [PROVIDER, [4, 5]],
  ] as const) {
    const body = Buffer.from(JSON.stringify(ids.map((id) => ({ transaction_id: id, address }))));
    await receive({ body, address, headers: {} });
    await splitWebhooks(context, 0);
    for (const [position, count] of misses.entries()) {
      await context.db
        .updateTable('webhook_items')
        .set({ misses: count })
        .where('position', '=', position)
        .where('misses', '=', 0)
        .execute();
    }
  }
  const items = await claimItems(context, 10);
  const groups = ids.map((id) => items.filter(({ transactionId }) => transactionId === id));
  expect(groups.map((group) => group.length)).toEqual([2, 2]);
  expect(await createShowBudget(context).admit(groups)).toEqual([
    { kind: 'show', chargedSender: PROVIDER },
    { kind: 'wait', waitsFor: 'list', notBefore: undefined },
  ]);
});

describe('a sender without a hit', () => {
  const flood = async (posts: number, address = STRANGER): Promise<void> => {
    await Promise.all(Array.from({ length: posts }, () => env.receive(unknownIds(FIRST_IDS), address)));
  };

  test('gets 300 shows an hour, over replicas and restarts, and 300 in the next', async () => {
    const replica = await env.replica();
    const options = { url: env.provider.url, apiKey: API_KEY, signal: replica.signal, timers: env.timers };
    const drained = workInbox(replica, env.use(createProviderClient(options)));
    env.use({ [Symbol.asyncDispose]: () => drained });
    await flood(50);
    await awaitFetches(1, 200);
    expect(requests()).toBe(SENDER_SHOWS_PER_HOUR);
    // another process knows of it too
    const restarted = await env.replica();
    const again = workInbox(restarted, env.use(createProviderClient({ ...options, signal: restarted.signal })));
    env.use({ [Symbol.asyncDispose]: () => again });
    await flood(5);
    await awaitFetches(1, 200);
    expect(requests()).toBe(SENDER_SHOWS_PER_HOUR);
    await env.timers.advance(3_600_000);
    await awaitFetches(2, 1_000);
    expect(requests()).toBeGreaterThan(SENDER_SHOWS_PER_HOUR);
    expect(requests()).toBeLessThanOrEqual(2 * SENDER_SHOWS_PER_HOUR);
  });

  test('delays no other sender: a genuine webhook beside its flood has its show at once', async () => {
    await flood(60);
    await awaitFetches(1, 200);
    const row = paid();
    const { id } = await env.receive({ transaction_id: row.id, status: 'paid' }, PROVIDER);
    await eventually('applied', async () => ((await env.webhook(id)).state === 'applied' ? true : undefined));
    expect(env.provider.countShows(row.id)).toBe(1);
  });

  test('of an IPv6 network of its own is one sender', async () => {
    for (let n = 1; n <= 40; n++) await flood(1, `2001:db8:1:2::${n.toString(16)}`);
    await awaitFetches(1, 200);
    expect(requests()).toBe(SENDER_SHOWS_PER_HOUR);
  });

  test('has its misses back once the provider knows what it named', async () => {
    const late = makeShownTransaction(PAID, { id: randomUUID() });
    const { id } = await env.receive({ transaction_id: late.id, status: 'paid' }, PROVIDER);
    await awaitFetches(2, 1_000);
    const charged = await env.context.db.selectFrom('senders').select('shows').executeTakeFirstOrThrow();
    expect(charged.shows).toBeGreaterThanOrEqual(2);
    env.provider.put(late);
    await env.waitForState(id, 'applied');
    const after = await env.context.db.selectFrom('senders').select(['shows', 'hit_at']).executeTakeFirstOrThrow();
    expect(after).toMatchObject({ shows: 0, hit_at: expect.any(Date) });
  });
});

test('a webhook from a sender with a hit is fetched until the provider shows its transaction', async () => {
  await hit(PROVIDER);
  const late = makeShownTransaction(PAID, { id: randomUUID() });
  const { id } = await env.receive({ transaction_id: late.id, status: 'paid' }, PROVIDER);
  await awaitFetches(3, 1_000);
  env.provider.put(late);
  await env.waitForState(id, 'applied');
  expect(env.provider.countShows(late.id)).toBeGreaterThanOrEqual(4);
});

test('a person who reprocesses a webhook pays for a show of it', async () => {
  const [one = { transaction_id: '', status: '' }] = unknownIds(1);
  const { id } = await env.receive([...unknownIds(10), one], STRANGER);
  await untilQuarantined(id);
  expect(env.provider.countShows(one.transaction_id)).toBe(0);
  await reprocessWebhook(env.context, (await env.webhook(id)).seq);
  await eventually('a show', () => env.provider.countShows(one.transaction_id) === 1);
});

test('an item quarantined as unknown is applied once the ledger has learnt it; a repeat before that causes no show', async () => {
  const row = makeShownTransaction(PAID, { id: randomUUID() });
  const body = { transaction_id: row.id, status: 'paid' };
  const { id } = await env.receive(body, STRANGER);
  await untilQuarantined(id);
  env.provider.put(row);
  const before = requests();
  await env.receive(body, STRANGER);
  await hit(PROVIDER);
  expect(env.provider.countShows(row.id) - before).toBeLessThanOrEqual(0);
  await applyObservations(env.context, [observe(row, env.context.clock.now())]);
  await retryLearntItems(env.context);
  await env.waitForState(id, 'applied');
});

describe('an id', () => {
  test('is requested in lower case alone, until rows of the provider show another spelling', async () => {
    const [id, upper] = [randomUUID(), randomUUID().toUpperCase()];
    await env.receive({ transaction_id: id.toUpperCase(), status: 'paid' }, PROVIDER);
    await awaitFetches(1, 200);
    expect(env.provider.requests.map((one) => one.path.split('/').at(-1))).toEqual([id]);
    // learnt from a list
    const row = makeShownTransaction(PAID, { id: upper });
    await applyObservations(env.context, [observe(row, env.context.clock.now())]);
    await env.timers.advance(60_000);
    const other = paid({ id: randomUUID().toUpperCase() });
    const { id: webhook } = await env.receive({ transaction_id: other.id.toLowerCase(), status: 'paid' }, PROVIDER);
    await env.waitForState(webhook, 'applied');
    expect(env.provider.countShows(other.id)).toBe(1);
    expect(env.provider.countShows(other.id.toLowerCase())).toBe(0);
  });
});
