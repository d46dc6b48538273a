import type { Socket } from 'node:net';

/** Connections that carried a request whose sender was authenticated. */
const known = new WeakSet<Socket>();

/** To be called once the sender of a request on this connection is known: it may stay open as long as any. */
export function knowConnection(socket: Socket): void {
  known.add(socket);
}

export function isKnownConnection(socket: Socket): boolean {
  return known.has(socket);
}
