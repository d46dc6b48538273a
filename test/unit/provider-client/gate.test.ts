import { expect, test } from 'vitest';
import {
  createGate,
  type Gate,
  type Grant,
  PRIORITIES,
  type Priority,
} from '../../../src/provider/schedule-requests.ts';
import { createTestTimers } from '../../support/test-timers.ts';

const never = new AbortController().signal;
const enterAll = (gate: Gate, count: number) => Promise.all(Array.from({ length: count }, () => gate.enter(never)));

test('the gate lets in as many as its limit, and the next one only when one leaves', async () => {
  const gate = createGate(16);
  const [ticket = 0] = await enterAll(gate, 4);
  let entered = false;
  const fifth = gate.enter(never).then(() => {
    entered = true;
  });
  await new Promise(setImmediate);
  expect(entered).toBe(false);
  gate.leave(ticket, 'other');
  await fifth;
  expect(entered).toBe(true);
});

test('each good answer widens the gate a little, up to its most', async () => {
  const gate = createGate(6);
  const before = gate.limit;
  gate.leave(await gate.enter(never), 'good');
  expect(gate.limit).toBeGreaterThan(before);
  for (let answer = 0; answer < 100; answer++) gate.leave(await gate.enter(never), 'good');
  expect(gate.limit).toBe(6);
});

test('a burst of overloads among requests that were under way together halves the gate once', async () => {
  const gate = createGate(16);
  const tickets = await enterAll(gate, 4);
  for (const ticket of tickets) gate.leave(ticket, 'overloaded');
  expect(gate.limit).toBe(2);
});

test('an overload that comes after a halving halves again, whatever became of those beside the first', async () => {
  const gate = createGate(16);
  const [first = 0, ...beside] = await enterAll(gate, 4);
  gate.leave(first, 'overloaded');
  for (const ticket of beside) gate.leave(ticket, 'other');
  expect(gate.limit).toBe(2);
  gate.leave(await gate.enter(never), 'overloaded');
  expect(gate.limit).toBe(1);
  gate.leave(await gate.enter(never), 'overloaded');
  expect(gate.limit, 'one request always gets through').toBe(1);
});

test('a paused gate lets nobody in before the time, those that waited already included', async () => {
  const timers = createTestTimers();
  const gate = createGate(1, undefined, timers);
  const ticket = await gate.enter(never);
  let entered = false;
  const waiting = gate.enter(never).then(() => {
    entered = true;
  });
  gate.pause(100_000);
  gate.leave(ticket, 'overloaded');
  await timers.advance(90_000);
  expect(entered).toBe(false);
  await timers.advance(10_000);
  await waiting;
});

test('who waits at a gate leaves at the signal, and takes no place', async () => {
  const gate = createGate(1);
  const ticket = await gate.enter(never);
  const stop = new AbortController();
  const waiting = gate.enter(stop.signal);
  stop.abort(new Error('stopping'));
  await expect(waiting).rejects.toThrow('stopping');
  gate.leave(ticket, 'good');
  gate.leave(await gate.enter(never), 'good');
  await expect(gate.enter(stop.signal)).rejects.toThrow('stopping');
});

test('who waits is let in by priority, and one place is kept for verifications', async () => {
  const gate = createGate(16);
  const tickets = await Promise.all([1, 2, 3].map(() => gate.enter(never, 'backfill')));
  const order: Priority[] = [];
  const waiting = PRIORITIES.toReversed().map(async (priority) => {
    const ticket = await gate.enter(never, priority);
    order.push(priority);
    gate.leave(ticket, 'other');
  });
  await new Promise(setImmediate);
  // the limit is 4: a backfill may have 3 of its places
  expect(order).toEqual(['verification']);
  for (const ticket of tickets) gate.leave(ticket, 'other');
  await Promise.all(waiting);
  expect(order).toEqual([...PRIORITIES]);
});

test('with a budget nobody enters without a token, and who has to wait for one holds up nobody more urgent', async () => {
  const asked: Priority[] = [];
  const gate = createGate(16, {
    take: async (priority): Promise<Grant> => {
      asked.push(priority);
      return priority === 'verification' ? { tokens: 1 } : { waitMs: 3_600_000 };
    },
  });
  const stop = new AbortController();
  const backfill = gate.enter(stop.signal, 'backfill');
  await new Promise(setImmediate);
  await gate.enter(never, 'verification');
  await gate.enter(never, 'verification');
  expect(asked).toEqual(['backfill', 'verification', 'verification']);
  stop.abort(new Error('stopping'));
  await expect(backfill).rejects.toThrow('stopping');
});

test('tokens that were taken together serve as many, and the urgent one first', async () => {
  let takes = 0;
  const gate = createGate(16, {
    take: async (): Promise<Grant> => {
      takes++;
      return { tokens: 3 };
    },
  });
  const order: Priority[] = [];
  const enter = async (priority: Priority): Promise<void> => {
    await gate.enter(never, priority);
    order.push(priority);
  };
  const backfills = [enter('backfill'), enter('backfill')];
  await Promise.all([...backfills, enter('verification')]);
  expect(order[0]).toBe('verification');
  expect(takes).toBeLessThanOrEqual(2);
});

test('a budget that can not be asked is asked again', async () => {
  let takes = 0;
  const take = async (): Promise<Grant> => {
    takes++;
    if (takes === 1) throw new Error('the database is away');
    return { tokens: 1 };
  };
  const timers = createTestTimers();
  const gate = createGate(16, { take }, timers);
  const entered = gate.enter(never);
  await new Promise(setImmediate);
  expect(takes).toBe(1);
  await timers.advance(1_000);
  await entered;
  expect(takes).toBe(2);
});

test('a pause too long to wait for turns all away at once, and tells how long it is', async () => {
  const gate = createGate(1);
  await gate.enter(never);
  const waited = gate.enter(never);
  gate.pause(3_600_000);
  await expect(waited).rejects.toMatchObject({ code: 'provider_unavailable' });
  const refused = (await gate.enter(never).catch((error: unknown) => error)) as { retryAfterMs: number };
  expect(refused.retryAfterMs).toBeGreaterThan(3_500_000);
});
