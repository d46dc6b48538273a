/**
 * Keeps unauthenticated senders from taking the connections that genuine senders need.
 *
 * A source is an IPv4 address or an IPv6 /64. Proxies that TRUST_PROXY names are not sources: they carry everybody's
 * requests. Where TRUST_PROXY counts hops, any address may be the proxy's: then no source has a limit of its own, and a
 * connection is a stranger's until it carries a request with X-Forwarded-For. A stranger is a connection that has carried
 * no verified credential.
 *
 * Limits: `connectionsPerSourceMax` of a source, `connectionsPerSiteMax` of an IPv6 /48, `connectionsMax` in all. A new
 * connection beyond one of them replaces a stranger's:
 * - in a full group, the oldest that was idle or stalled for `stalledMs`; else the youngest with a half-read body; else the
 *   oldest idle one;
 * - at `connectionsMax`, the oldest that is idle or has stalled for `stalledMs`, of all sources. Without such a stranger,
 *   the connection of the largest source that has been idle or stalled longest.
 * Without a candidate the new connection is closed.
 *
 * A stranger has `unauthenticatedIdleMs` between two requests and for the headers of one; its Keep-Alive header says so. A
 * connection whose answers stay unread for `unreadMs` is closed. A connection has at most `pipelinedMax` requests under way;
 * what it sent after them is not parsed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../../config.ts';
import { connectionsCut } from '../../metrics/metrics.ts';
import {
  type Connection,
  chooseFromGroup,
  chooseOfLargestSource,
  chooseStranger,
  isStranger,
} from './choose-connection.ts';
import { createSocketGroups, type SocketGroup, type SourceLimits } from './group-sockets.ts';
import { matchesCidr } from './match-cidr.ts';

export type ConnectionLimits = SourceLimits & {
  /** Open at once, of all sources. */
  connectionsMax: number;
  /** From the connection, or a stranger's last answer, to the end of the headers of its next request. */
  unauthenticatedIdleMs: number;
  /** How long a half-read body or an unread answer protects its connection from replacement. */
  stalledMs: number;
  /** How long an answer may stay unread. */
  unreadMs: number;
  /** Requests under way on one connection. */
  pipelinedMax: number;
};

const UNLIMITED: SourceLimits = {
  connectionsPerSourceMax: Number.POSITIVE_INFINITY,
  connectionsPerSiteMax: Number.POSITIVE_INFINITY,
};

type Cut = 'idle' | 'unread' | 'shed' | 'refused' | 'pipelined';

export function createConnectionGuard(trustProxy: Config['TRUST_PROXY'], limits: ConnectionLimits) {
  /**
   * Changes with connections, not with requests: when V8 rehashes a map, the old table keeps a pointer to the new one.
   * Once an old table is promoted, each later one is promoted with all its entries, until the next full collection.
   * Responses in such a map promoted 8 MB in each young collection: pauses of 20 ms, and 1.5 times the CPU per webhook.
   */
  const connections = new Map<Socket, Connection>();
  const countsHops = typeof trustProxy === 'number' && trustProxy > 0;
  const sources = createSocketGroups(countsHops ? UNLIMITED : limits);
  const strangersKeepAlive = `timeout=${Math.max(1, Math.floor(limits.unauthenticatedIdleMs / 1000))}`;

  function cut(socket: Socket, why: Cut): void {
    connectionsCut.inc({ why });
    forget(socket);
    socket.destroy();
  }

  function forget(socket: Socket): void {
    sources.remove(socket, connections.get(socket)?.groups ?? []);
    connections.delete(socket);
  }

  /** Closes the chosen connection. @returns whether there was one. */
  function shed(chosen: Socket | undefined): boolean {
    if (chosen) cut(chosen, 'shed');
    return chosen !== undefined;
  }

  function makeRoom(groups: SocketGroup[]): boolean {
    const { stalledMs, connectionsMax } = limits;
    for (const { sockets, max } of groups)
      if (sockets.size >= max && !shed(chooseFromGroup(connections, sockets, stalledMs))) return false;
    return (
      connections.size < connectionsMax ||
      shed(chooseStranger(connections, stalledMs) ?? chooseOfLargestSource(connections, stalledMs))
    );
  }

  /** One listener for all responses, not a closure for each request. */
  function end(this: ServerResponse): void {
    const { socket } = this.req;
    const connection = connections.get(socket);
    if (!connection) return;
    connection.activeRequests--;
    connection.sinceMs = performance.now();
    if (connection.lastResponse === this) connection.lastResponse = undefined;
    if (connection.isClosing && connection.activeRequests === 0) socket.destroySoon();
  }

  return {
    connections,
    /** Registers a new connection, or closes it where there is no room. */
    admit(socket: Socket): void {
      const { remoteAddress } = socket;
      const groups = isNamedProxy(trustProxy, remoteAddress) ? [] : sources.find(remoteAddress ?? '');
      if (!makeRoom(groups)) {
        connectionsCut.inc({ why: 'refused' });
        socket.destroy();
        return;
      }
      const nowMs = performance.now();
      const fresh = {
        lastResponse: undefined,
        activeRequests: 0,
        isProxied: false,
        isClosing: false,
        unread: { mark: '', sinceMs: nowMs },
      };
      const connection = { ...fresh, groups, sinceMs: nowMs };
      connections.set(socket, connection);
      skipWhatFollows(socket, connection);
      sources.add(socket, groups);
      socket.once('close', () => forget(socket));
    },
    /** @returns whether the request may be answered; false beyond `pipelinedMax` on its connection. */
    begin({ socket, headers }: IncomingMessage, response: ServerResponse): boolean {
      const connection = connections.get(socket);
      if (!connection || connection.isClosing) return false;
      if (connection.activeRequests >= limits.pipelinedMax) {
        connectionsCut.inc({ why: 'pipelined' });
        connection.isClosing = true;
        return false;
      }
      if (connection.activeRequests === 0) connection.sinceMs = performance.now();
      connection.activeRequests++;
      connection.lastResponse = response;
      if (countsHops && headers['x-forwarded-for'] !== undefined) connection.isProxied = true;
      response.on('close', end);
      // Node's own header says keepAliveMs: a sender could then send on a connection that is being cut
      if (response.shouldKeepAlive && !response.hasHeader('connection') && isStranger(socket, connection))
        response.setHeader('keep-alive', strangersKeepAlive);
      return true;
    },
    /** Closes idle strangers and connections with unread answers. To be called every `checkEveryMs`. */
    sweep(): void {
      const nowMs = performance.now();
      for (const [socket, connection] of connections) {
        const isIdle = connection.activeRequests === 0 && nowMs - connection.sinceMs >= limits.unauthenticatedIdleMs;
        if (isIdle && isStranger(socket, connection)) cut(socket, 'idle');
        else if (isUnread(socket, connection, nowMs)) cut(socket, 'unread');
      }
    },
  };

  function isUnread(socket: Socket, { unread }: Connection, nowMs: number): boolean {
    const mark = socket.writableLength > 0 ? markUnread(socket) : '';
    if (mark !== unread.mark) Object.assign(unread, { mark, sinceMs: nowMs });
    return mark !== '' && nowMs - unread.sinceMs >= limits.unreadMs;
  }
}

/** A value that changes when the peer reads. While one large chunk is sent, only the system's write queue shrinks. */
function markUnread(socket: Socket): string {
  const { writeQueueSize = 0 } = (socket as { _handle?: { writeQueueSize?: number } | null })._handle ?? {};
  return `${socket.bytesWritten - socket.writableLength} ${writeQueueSize}`;
}

/** Node's parser of a socket, as far as it is used here: no documented interface stops it within the bytes of one read. */
type Parser = { onIncoming?: (request: IncomingMessage, keepAlive: boolean) => number };
/** Returned by `onIncoming`: what follows in these bytes belongs to another protocol, and is not parsed. */
const NOT_HTTP = 2;

/**
 * Skips what follows the last request that a connection may send. One read brings up to 64 KiB: thousands of requests, which
 * would be parsed before anybody else has a turn, for nothing.
 */
function skipWhatFollows(socket: Socket, connection: Connection): void {
  const { parser } = socket as { parser?: Parser };
  const onIncoming = parser?.onIncoming;
  if (!parser || !onIncoming) return;
  parser.onIncoming = (request, keepAlive) => {
    if (connection.isClosing || socket.destroyed) return NOT_HTTP;
    // Node answers it 400 by itself, and closes the connection
    if (request.httpVersion === '1.1' && request.headers.host === undefined) connection.isClosing = true;
    return onIncoming(request, keepAlive);
  };
}

/** Whether TRUST_PROXY names this address. */
function isNamedProxy(trustProxy: Config['TRUST_PROXY'], address: string | undefined): boolean {
  return typeof trustProxy === 'object' && matchesCidr(trustProxy, address);
}
