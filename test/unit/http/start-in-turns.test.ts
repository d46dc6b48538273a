import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRequestTurns } from '../../../src/http/connections/start-in-turns.ts';

/** Each start takes 2 ms of a clock that nothing else moves: a slice of 5 ms holds three. */
const START_MS = 2;
let nowMs = 0;
let started: string[] = [];
beforeEach(() => {
  nowMs = 0;
  started = [];
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => void vi.restoreAllMocks());

const REST = ['/a', '/b', '/c', '/d', '/e', '/f', '/g'];

function open() {
  const turns = createRequestTurns();
  const ask = (url: string, socket: object = { destroyed: false }, isAlone = true) => {
    const response = new EventEmitter();
    const start = () => {
      started.push(url);
      nowMs += START_MS;
    };
    // the turns use no more of both than this
    const request = { url, socket } as unknown as IncomingMessage;
    turns.start({ request, response: response as unknown as ServerResponse, start }, isAlone);
    return response;
  };
  return { ...turns, ask };
}

it('starts requests for a slice, the rest in later turns in order, and /healthz before those', async () => {
  const { ask } = open();
  for (const url of REST) ask(url);
  ask('/healthz');
  expect(started).toEqual(['/a', '/b', '/c']);
  await nextTurn();
  await nextTurn();
  expect(started.slice(3, 5)).toEqual(['/healthz', '/d']);
  await vi.waitUntil(() => started.length === 8);
  expect(started.slice(4)).toEqual(['/d', '/e', '/f', '/g']);
});

it('starts /healthz before webhooks that came before it', async () => {
  const { ask } = open();
  for (const url of REST.slice(0, 3)) ask(url);
  for (const url of ['/webhooks/pix', '/healthz?x']) ask(url);
  await vi.waitUntil(() => started.length === 5);
  expect(started.slice(3)).toEqual(['/healthz?x', '/webhooks/pix']);
});

it('starts webhooks that wait behind others of their connection after those of all connections', async () => {
  const { ask } = open();
  for (const url of REST.slice(0, 3)) ask(url);
  const socket = { destroyed: false };
  ask('/webhooks/pix/1', socket);
  ask('/webhooks/pix/2', socket, false);
  ask('/webhooks/pix/3');
  await vi.waitUntil(() => started.length === 6);
  expect(started.slice(3)).toEqual(['/webhooks/pix/1', '/webhooks/pix/3', '/webhooks/pix/2']);
});

it('starts a pipelined request of the rest after the answer to the one before', async () => {
  const { ask } = open();
  const socket = { destroyed: false };
  const first = ask('/a', socket);
  ask('/b', socket);
  ask('/c', { destroyed: false });
  await nextTurn();
  expect(started).toEqual(['/a', '/c']);
  first.emit('close');
  await vi.waitUntil(() => started.length === 3);
  expect(started).toEqual(['/a', '/c', '/b']);
});

it('starts nothing whose connection has closed, and goes on', async () => {
  const { ask } = open();
  for (const url of REST.slice(0, 3)) ask(url);
  const socket = { destroyed: false };
  ask('/gone', socket);
  ask('/last');
  socket.destroyed = true;
  await vi.waitUntil(() => started.length === 4);
  expect(started.at(-1)).toBe('/last');
});

it('lets connections be accepted first, and starts requests all the same while they keep coming', async () => {
  const { ask, accepted } = open();
  accepted();
  await nextTurn();
  ask('/a');
  let turnsPassed = 0;
  for (; started.length === 0 && turnsPassed < 100; turnsPassed++) {
    accepted();
    await nextTurn();
  }
  expect(turnsPassed).toBeGreaterThan(20);
  expect(turnsPassed).toBeLessThan(40);
});
