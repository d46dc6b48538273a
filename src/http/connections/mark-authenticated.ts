import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections that carried a request whose credential was verified: a webhook's, a token, a session. */
const known = new WeakSet<Socket>();

/**
 * To be called before the answer, once the credential of its request is verified: the connection may stay open as long as
 * any, and the answer says so.
 */
export function markAuthenticated(response: ServerResponse): void {
  known.add(response.req.socket);
  response.removeHeader('keep-alive');
}

export function isAuthenticated(socket: Socket): boolean {
  return known.has(socket);
}
