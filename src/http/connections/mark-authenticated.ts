import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections that carried a verified credential: a webhook's, a token, a session. */
const known = new WeakSet<Socket>();

/**
 * Marks a connection as authenticated: it may stay idle for `keepAliveMs`. Call it before the response is sent, once the
 * request's credential is verified.
 */
export function markAuthenticated(response: ServerResponse): void {
  known.add(response.req.socket);
  response.removeHeader('keep-alive');
}

export function isAuthenticated(socket: Socket): boolean {
  return known.has(socket);
}
