import type { Socket } from 'node:net';

/** Connections that carried a request whose credential was verified: a webhook's, a token, a session. */
const known = new WeakSet<Socket>();

/** To be called once the sender of a request on this connection is known: it may stay open as long as any. */
export function knowConnection(socket: Socket): void {
  known.add(socket);
}

export function isKnownConnection(socket: Socket): boolean {
  return known.has(socket);
}
