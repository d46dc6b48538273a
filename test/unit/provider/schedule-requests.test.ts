import { expect, test } from 'vitest';
import {
  createRequestScheduler,
  PRIORITIES,
  type Priority,
  type RequestScheduler,
  type TokenGrant,
} from '../../../src/provider/schedule-requests.ts';
import { createTestTimers } from '../../support/test-timers.ts';

const never = new AbortController().signal;
const enterAll = (scheduler: RequestScheduler, count: number) =>
  Promise.all(Array.from({ length: count }, () => scheduler.acquire(never)));

test('the scheduler admits as many requests as its limit, and the next one after a release', async () => {
  const scheduler = createRequestScheduler(16);
  const [ticket = 0] = await enterAll(scheduler, 4);
  let entered = false;
  const fifth = scheduler.acquire(never).then(() => {
    entered = true;
  });
  await new Promise(setImmediate);
  expect(entered).toBe(false);
  scheduler.release(ticket, 'other');
  await fifth;
  expect(entered).toBe(true);
});

test('each good answer raises the limit a little, up to its maximum', async () => {
  const scheduler = createRequestScheduler(6);
  const before = scheduler.concurrencyLimit;
  scheduler.release(await scheduler.acquire(never), 'good');
  expect(scheduler.concurrencyLimit).toBeGreaterThan(before);
  for (let answer = 0; answer < 100; answer++) scheduler.release(await scheduler.acquire(never), 'good');
  expect(scheduler.concurrencyLimit).toBe(6);
});

test('overloads of requests that were in flight together halve the limit once', async () => {
  const scheduler = createRequestScheduler(16);
  const tickets = await enterAll(scheduler, 4);
  for (const ticket of tickets) scheduler.release(ticket, 'overloaded');
  expect(scheduler.concurrencyLimit).toBe(2);
});

test('an overload of a request admitted after a halving halves the limit again', async () => {
  const scheduler = createRequestScheduler(16);
  const [first = 0, ...beside] = await enterAll(scheduler, 4);
  scheduler.release(first, 'overloaded');
  for (const ticket of beside) scheduler.release(ticket, 'other');
  expect(scheduler.concurrencyLimit).toBe(2);
  scheduler.release(await scheduler.acquire(never), 'overloaded');
  expect(scheduler.concurrencyLimit).toBe(1);
  scheduler.release(await scheduler.acquire(never), 'overloaded');
  expect(scheduler.concurrencyLimit, 'one request always gets through').toBe(1);
});

test('a paused scheduler admits no request before the end of the pause, not even those that waited before', async () => {
  const timers = createTestTimers();
  const scheduler = createRequestScheduler(1, undefined, timers);
  const ticket = await scheduler.acquire(never);
  let entered = false;
  const waiting = scheduler.acquire(never).then(() => {
    entered = true;
  });
  scheduler.pause(100_000);
  scheduler.release(ticket, 'overloaded');
  await timers.advance(90_000);
  expect(entered).toBe(false);
  await timers.advance(10_000);
  await waiting;
});

test('a waiting request is rejected at the signal, and takes no slot', async () => {
  const scheduler = createRequestScheduler(1);
  const ticket = await scheduler.acquire(never);
  const stop = new AbortController();
  const waiting = scheduler.acquire(stop.signal);
  stop.abort(new Error('stopping'));
  await expect(waiting).rejects.toThrow('stopping');
  scheduler.release(ticket, 'good');
  scheduler.release(await scheduler.acquire(never), 'good');
  await expect(scheduler.acquire(stop.signal)).rejects.toThrow('stopping');
});

test('waiting requests are admitted by priority, and one slot stays free for verifications', async () => {
  const scheduler = createRequestScheduler(16);
  const tickets = await Promise.all([1, 2, 3].map(() => scheduler.acquire(never, 'backfill')));
  const order: Priority[] = [];
  const waiting = PRIORITIES.toReversed().map(async (priority) => {
    const ticket = await scheduler.acquire(never, priority);
    order.push(priority);
    scheduler.release(ticket, 'other');
  });
  await new Promise(setImmediate);
  // the limit is 4: a backfill may have 3 of its places
  expect(order).toEqual(['verification']);
  for (const ticket of tickets) scheduler.release(ticket, 'other');
  await Promise.all(waiting);
  expect(order).toEqual([...PRIORITIES]);
});

test('with a token bucket each request needs a token, and waiting for one delays no more urgent request', async () => {
  const asked: Priority[] = [];
  const scheduler = createRequestScheduler(16, {
    take: async (priority): Promise<TokenGrant> => {
      asked.push(priority);
      return priority === 'verification' ? { tokens: 1 } : { waitMs: 3_600_000 };
    },
  });
  const stop = new AbortController();
  const backfill = scheduler.acquire(stop.signal, 'backfill');
  await new Promise(setImmediate);
  await scheduler.acquire(never, 'verification');
  await scheduler.acquire(never, 'verification');
  expect(asked).toEqual(['backfill', 'verification', 'verification']);
  stop.abort(new Error('stopping'));
  await expect(backfill).rejects.toThrow('stopping');
});

test('tokens taken together admit as many requests, the most urgent first', async () => {
  let takes = 0;
  const scheduler = createRequestScheduler(16, {
    take: async (): Promise<TokenGrant> => {
      takes++;
      return { tokens: 3 };
    },
  });
  const order: Priority[] = [];
  const enter = async (priority: Priority): Promise<void> => {
    await scheduler.acquire(never, priority);
    order.push(priority);
  };
  const backfills = [enter('backfill'), enter('backfill')];
  await Promise.all([...backfills, enter('verification')]);
  expect(order[0]).toBe('verification');
  expect(takes).toBeLessThanOrEqual(2);
});

test('a token bucket that fails is asked again', async () => {
  let takes = 0;
  const take = async (): Promise<TokenGrant> => {
    takes++;
    if (takes === 1) throw new Error('the database is away');
    return { tokens: 1 };
  };
  const timers = createTestTimers();
  const scheduler = createRequestScheduler(16, { take }, timers);
  const entered = scheduler.acquire(never);
  await new Promise(setImmediate);
  expect(takes).toBe(1);
  await timers.advance(1_000);
  await entered;
  expect(takes).toBe(2);
});

test('a pause too long to wait for rejects all waiting requests at once, with its length', async () => {
  const scheduler = createRequestScheduler(1);
  await scheduler.acquire(never);
  const waited = scheduler.acquire(never);
  scheduler.pause(3_600_000);
  await expect(waited).rejects.toMatchObject({ code: 'provider_unavailable' });
  const refused = (await scheduler.acquire(never).catch((error: unknown) => error)) as { retryAfterMs: number };
  expect(refused.retryAfterMs).toBeGreaterThan(3_500_000);
});
