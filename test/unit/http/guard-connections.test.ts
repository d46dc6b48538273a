import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createConnectionGuard } from '../../../src/http/connections/guard-connections.ts';
import { markAuthenticated } from '../../../src/http/connections/mark-authenticated.ts';
import { HTTP_LIMITS } from '../../../src/http/connections/serve-http.ts';

const LIMITS = { ...HTTP_LIMITS, connectionsMax: 6, connectionsPerSourceMax: 3, connectionsPerSiteMax: 4 };

type Guard = ReturnType<typeof createConnectionGuard>;

/** Opens a connection from an address that this machine need not have. */
function admit(guard: Guard, address: string): Socket {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: address });
  guard.admit(socket);
  return socket;
}

function admitAuthenticated(guard: Guard, address: string): Socket {
  const socket = admit(guard, address);
  authenticate(socket);
  return socket;
}

function authenticate(socket: Socket): void {
  markAuthenticated(new ServerResponse(new IncomingMessage(socket)));
}

const indexesOfClosed = (sockets: Socket[]): number[] =>
  sockets.flatMap(({ destroyed }, index) => (destroyed ? [index] : []));

/** Starts a request on a connection. @param complete whether its body was read. */
function ask(guard: Guard, socket: Socket, headers: Record<string, string> = {}, complete = true): ServerResponse {
  const request = new IncomingMessage(socket);
  Object.assign(request, { complete, headers });
  const response = new ServerResponse(request);
  guard.begin(request, response);
  return response;
}

test('where all are authenticated, a new connection replaces the longest idle one of the largest source', () => {
  const guard = createConnectionGuard(undefined, LIMITS);
  const lone = admitAuthenticated(guard, '203.0.113.1');
  const few = ['203.0.113.2', '203.0.113.2'].map((address) => admitAuthenticated(guard, address));
  const many = Array.from({ length: 3 }, () => admitAuthenticated(guard, '203.0.113.3'));
  ask(guard, many[0] as Socket);
  const fresh = admit(guard, '203.0.113.4');
  expect([fresh.destroyed, lone.destroyed, indexesOfClosed(few), indexesOfClosed(many)]).toEqual([
    false,
    false,
    [],
    [1],
  ]);
});

test('a connection with a request under way is never closed for a new one', () => {
  const guard = createConnectionGuard(undefined, LIMITS);
  const busy = [1, 2, 3, 4, 5, 6].map((n) => admitAuthenticated(guard, `203.0.113.${n}`));
  for (const socket of busy) ask(guard, socket);
  expect([admit(guard, '203.0.113.7').destroyed, indexesOfClosed(busy)]).toEqual([true, []]);
});

/** Strangers of one address, each with a half-read body. */
function admitHalfRead(guard: Guard, count: number): Socket[] {
  return Array.from({ length: count }, () => {
    const socket = admit(guard, '203.0.113.1');
    ask(guard, socket, {}, false);
    return socket;
  });
}

test('a connection that was just accepted outlives half-read bodies of its address; the youngest of those is closed', () => {
  const guard = createConnectionGuard(undefined, LIMITS);
  const halfRead = admitHalfRead(guard, 2);
  const genuine = admit(guard, '203.0.113.1');
  const next = admit(guard, '203.0.113.1');
  expect([genuine.destroyed, next.destroyed, indexesOfClosed(halfRead)]).toEqual([false, false, [1]]);
});

test('a new connection replaces the youngest half-read body of its address, and none of another address', () => {
  const guard = createConnectionGuard(undefined, { ...LIMITS, connectionsMax: 4 });
  const halfRead = admitHalfRead(guard, 3);
  const reopened = admitHalfRead(guard, 2);
  expect([indexesOfClosed(halfRead), indexesOfClosed(reopened)]).toEqual([[2], [0]]);
  const known = admitAuthenticated(guard, '203.0.113.2');
  ask(guard, known, {}, false);
  expect([known.destroyed, admit(guard, '203.0.113.3').destroyed]).toEqual([false, true]);
});

test('a body that has stalled is closed before younger half-read ones', () => {
  const guard = createConnectionGuard(undefined, { ...LIMITS, stalledMs: 0 });
  const halfRead = admitHalfRead(guard, 3);
  expect([admit(guard, '203.0.113.1').destroyed, indexesOfClosed(halfRead)]).toEqual([false, [0]]);
});

test('an IPv6 /48 has a limit over all its /64', () => {
  const guard = createConnectionGuard(undefined, LIMITS);
  const strangers = [1, 2, 3, 4, 5].map((n) => admit(guard, `2001:db8:7:${n}::1`));
  expect(indexesOfClosed(strangers)).toEqual([0]);
  const other = [1, 2].map((n) => admit(guard, `2001:db8:8:${n}::1`));
  expect([indexesOfClosed(strangers), indexesOfClosed(other)]).toEqual([[0], []]);
  for (const socket of strangers) authenticate(socket);
  expect(admit(guard, '2001:db8:7:9::1').destroyed).toBe(true);
});

test('an IPv6 /64 has the limit of a source, and its connections count for its /48', () => {
  const guard = createConnectionGuard(undefined, LIMITS);
  const one = Array.from({ length: 4 }, () => admit(guard, '2001:db8:7:1::1'));
  expect(indexesOfClosed(one)).toEqual([0]);
  for (const socket of one) socket.destroy();
  const spread = createConnectionGuard(undefined, LIMITS);
  const few = ['203.0.113.2', '203.0.113.2'].map((address) => admitAuthenticated(spread, address));
  const wide = [1, 2, 3, 4].map((n) => admitAuthenticated(spread, `2001:db8:7:${n}::1`));
  expect(admit(spread, '203.0.113.4').destroyed).toBe(false);
  expect([indexesOfClosed(few), indexesOfClosed(wide)]).toEqual([[], [0]]);
});

/** Answers a request that a proxy forwarded. */
function passOn(guard: Guard, socket: Socket): void {
  ask(guard, socket, { 'x-forwarded-for': '203.0.113.99' }).emit('close');
}

test('with a hop count, the oldest idle connection without a forwarded request is closed first', () => {
  const guard = createConnectionGuard(1, LIMITS);
  const proxied = [1, 2].map(() => admit(guard, '10.0.0.1'));
  for (const socket of proxied) passOn(guard, socket);
  const idle = Array.from({ length: 4 }, () => admit(guard, '203.0.113.3'));
  const asked = idle[0] as Socket;
  ask(guard, asked).emit('close');
  const fresh = [1, 2].map(() => admit(guard, '10.0.0.1'));
  expect([proxied, idle, fresh].map(indexesOfClosed)).toEqual([[], [0, 1], []]);
});

test('with a hop count, one address may open all connections', () => {
  const guard = createConnectionGuard(1, LIMITS);
  expect(indexesOfClosed(Array.from({ length: 6 }, () => admit(guard, '10.0.0.1')))).toEqual([]);
});

test('with a hop count, idle connections that claim to be a proxy’s are closed last', () => {
  const guard = createConnectionGuard(1, LIMITS);
  const proxied = [1, 2].map(() => admit(guard, '10.0.0.1'));
  const claimed = Array.from({ length: 4 }, () => admit(guard, '203.0.113.3'));
  for (const socket of [...proxied, ...claimed]) passOn(guard, socket);
  expect(admit(guard, '10.0.0.1').destroyed).toBe(false);
  expect([proxied, claimed].map(indexesOfClosed)).toEqual([[], [0]]);
});
