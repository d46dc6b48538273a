import { expect, test } from 'vitest';
import { createGate, type Gate } from '../../../src/provider/gate.ts';

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
  const gate = createGate(1);
  const ticket = await gate.enter(never);
  const waited = gate.enter(never).then(() => Date.now());
  const pausedAt = Date.now();
  gate.pause(300);
  gate.leave(ticket, 'overloaded');
  expect((await waited) - pausedAt).toBeGreaterThanOrEqual(299);
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
