/** Chooses the connection that a new one replaces. `stalledMs` is that of `ConnectionLimits`. */

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { largest } from '../../domain/lists.ts';
import type { SocketGroup } from './group-sockets.ts';
import { isAuthenticated } from './mark-authenticated.ts';

export type Connection = {
  /** The response to its newest request under way. */
  lastResponse: ServerResponse | undefined;
  /** The groups that it counts in, the narrowest first; none for a proxy that TRUST_PROXY names. */
  groups: SocketGroup[];
  /** It carried X-Forwarded-For, where TRUST_PROXY counts hops. */
  isProxied: boolean;
  activeRequests: number;
  /** When it became idle, or its oldest request under way began. */
  sinceMs: number;
  unread: { mark: string; sinceMs: number };
  /** It exceeded `pipelinedMax`: it closes after the answers to the accepted requests. */
  isClosing: boolean;
};

type Connections = ReadonlyMap<Socket, Connection>;

/** Whether a connection has carried no verified credential, and is not a proxy's. */
export function isStranger(socket: Socket, connection: Connection): boolean {
  return connection.groups.length > 0 && !connection.isProxied && !isAuthenticated(socket);
}

/**
 * Chooses a stranger of a full group: the oldest that was idle or stalled for `stalledMs`, else the youngest half-read
 * one, else the oldest idle one. The head of a connection that was just accepted is not parsed yet: it seems idle, but
 * mostly carries a whole request. It closes the youngest: closing the oldest would let no request of a steady burst finish.
 */
export function chooseFromGroup(
  connections: Connections,
  sockets: Iterable<Socket>,
  stalledMs: number,
): Socket | undefined {
  const sinceMaxMs = performance.now() - stalledMs;
  let youngestHalfRead: Socket | undefined;
  let oldestIdle: Socket | undefined;
  for (const socket of sockets) {
    const connection = connections.get(socket);
    if (!connection || !isStranger(socket, connection)) continue;
    if (isIdleOrStalls(socket, connection, sinceMaxMs)) {
      if (connection.sinceMs <= sinceMaxMs) return socket;
      oldestIdle ??= socket;
    } else if (isHalfRead(connection)) youngestHalfRead = socket;
  }
  return youngestHalfRead ?? oldestIdle;
}

/** Chooses the oldest stranger of all sources that is idle or has stalled. */
export function chooseStranger(connections: Connections, stalledMs: number): Socket | undefined {
  const sinceMaxMs = performance.now() - stalledMs;
  for (const [socket, connection] of connections)
    if (isStranger(socket, connection) && isIdleOrStalls(socket, connection, sinceMaxMs)) return socket;
  return undefined;
}

/** Chooses the connection that is idle or stalls longest, of the source that has most. */
export function chooseOfLargestSource(connections: Connections, stalledMs: number): Socket | undefined {
  const sinceMaxMs = performance.now() - stalledMs;
  let chosen: { socket: Socket; size: number; sinceMs: number } | undefined;
  for (const [socket, connection] of connections) {
    // a named proxy carries everybody's requests
    if (connection.groups.length === 0 || !isIdleOrStalls(socket, connection, sinceMaxMs)) continue;
    const size = largest(connection.groups.map(({ sockets }) => sockets.size));
    const { sinceMs } = connection;
    if (!chosen || size > chosen.size || (size === chosen.size && sinceMs < chosen.sinceMs))
      chosen = { socket, size, sinceMs };
  }
  return chosen?.socket;
}

function isIdleOrStalls(socket: Socket, connection: Connection, sinceMaxMs: number): boolean {
  if (connection.activeRequests === 0) return true;
  return (isHalfRead(connection) || socket.writableLength > 0) && connection.sinceMs <= sinceMaxMs;
}

function isHalfRead({ lastResponse }: Connection): boolean {
  return lastResponse?.req.complete === false;
}
