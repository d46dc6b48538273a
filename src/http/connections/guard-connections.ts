/**
 * Keeps one stranger from taking the connections that genuine senders need. A source is an address (an IPv6 /64); the
 * proxies that TRUST_PROXY names are none, since they carry everybody. Where it counts hops, any address may be the
 * proxy's: none has a limit of its own, and a connection is a stranger's until it carries a request with X-Forwarded-For.
 *
 * A source has at most `connectionsPerSourceMax`, an IPv6 /48 `connectionsPerSiteMax`, all together `connectionsMax`. A new
 * connection beyond any of them takes the place of the oldest stranger's that is idle, or has kept us waiting for
 * `stalledMs`. Where no stranger is left of all, it takes the place of the connection that is idle or stalls for the
 * longest, of the source that holds most. Otherwise it is closed.
 * A stranger is who was not authenticated on that connection yet; it has `strangerMs` between two requests and for the
 * headers of one, and its answers' Keep-Alive says so. Whoever does not read its answers for `unreadMs` is cut, and nobody
 * has more than `pipelinedMax` requests under way on one connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../../config.ts';
import { connectionsCut } from '../../metrics/metrics.ts';
import { createSocketGroups, type SocketGroup, type SourceLimits } from './group-sockets.ts';
import { isAuthenticated } from './mark-authenticated.ts';
import { matchesCidr } from './match-cidr.ts';

export type ConnectionLimits = SourceLimits & {
  /** Open at once, of all sources. */
  connectionsMax: number;
  /** From the connection, or a stranger's last answer, to the end of the headers of its next request. */
  unauthenticatedIdleMs: number;
  /** How long a half-read body or an unread answer keeps its connection where a new one needs the place. */
  stalledMs: number;
  /** How long an answer may stand unread. */
  unreadMs: number;
  /** Requests under way on one connection. */
  pipelinedMax: number;
};

/** A connection, and what it is about. */
export type Connection = {
  /** The last answer under way that it asked for. */
  lastResponse: ServerResponse | undefined;
  /** The groups that it counts in, the narrowest first; none for a proxy that is named. */
  groups: SocketGroup[];
  /** It is a proxy's by what it carried, where TRUST_PROXY counts hops. */
  isProxied: boolean;
  activeRequests: number;
  /** Since when it is idle, or its oldest request is under way. */
  sinceMs: number;
  unread: { mark: string; sinceMs: number };
  /** It asked for too much at once: it ends with what was taken of that. */
  isClosing: boolean;
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

  function isStranger(socket: Socket, connection: Connection): boolean {
    return connection.groups.length > 0 && !connection.isProxied && !isAuthenticated(socket);
  }

  function isIdleOrStalls(socket: Socket, connection: Connection, nowMs: number): boolean {
    if (connection.activeRequests === 0) return true;
    const keepsWaiting = connection.lastResponse?.req.complete === false || socket.writableLength > 0;
    return keepsWaiting && nowMs - connection.sinceMs >= limits.stalledMs;
  }

  function maySpare(socket: Socket, nowMs: number): boolean {
    const connection = connections.get(socket);
    return connection !== undefined && isStranger(socket, connection) && isIdleOrStalls(socket, connection, nowMs);
  }

  /** Makes a place at the cost of a stranger. @returns whether one was made. */
  function shed(candidates: Iterable<Socket>): boolean {
    const nowMs = performance.now();
    for (const socket of candidates) {
      if (!maySpare(socket, nowMs)) continue;
      cut(socket, 'shed');
      return true;
    }
    return false;
  }

  /** Makes a place where no stranger is left, at the cost of the source that holds most. @returns whether one was made. */
  function shedKnown(): boolean {
    const nowMs = performance.now();
    let chosen: { socket: Socket; held: number; sinceMs: number } | undefined;
    for (const [socket, connection] of connections) {
      // of a proxy that is named none: it carries everybody
      if (connection.groups.length === 0 || !isIdleOrStalls(socket, connection, nowMs)) continue;
      const held = Math.max(...connection.groups.map(({ sockets }) => sockets.size));
      const { sinceMs } = connection;
      if (!chosen || held > chosen.held || (held === chosen.held && sinceMs < chosen.sinceMs))
        chosen = { socket, held, sinceMs };
    }
    if (chosen) cut(chosen.socket, 'shed');
    return chosen !== undefined;
  }

  function cut(socket: Socket, why: Cut): void {
    connectionsCut.inc({ why });
    forget(socket);
    socket.destroy();
  }

  function forget(socket: Socket): void {
    sources.remove(socket, connections.get(socket)?.groups ?? []);
    connections.delete(socket);
  }

  function hasRoomIn(groups: SocketGroup[]): boolean {
    for (const { sockets, max } of groups) if (sockets.size >= max && !shed(sockets)) return false;
    return connections.size < limits.connectionsMax || shed(connections.keys()) || shedKnown();
  }

  /** One for all: it runs with every request. */
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
    /** Takes a new connection in, or closes it. */
    admit(socket: Socket): void {
      const { remoteAddress } = socket;
      const groups = isNamedProxy(trustProxy, remoteAddress) ? [] : sources.find(remoteAddress ?? '');
      if (!hasRoomIn(groups)) {
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
      connections.set(socket, { ...fresh, groups, sinceMs: nowMs });
      sources.add(socket, groups);
      socket.once('close', () => forget(socket));
    },
    /** @returns whether the request may be answered: not where too many of its connection are under way. */
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
      // Node would tell everybody keepAliveMs: a sender would send on a connection that is being cut
      if (response.shouldKeepAlive && !response.hasHeader('connection') && isStranger(socket, connection))
        response.setHeader('keep-alive', strangersKeepAlive);
      return true;
    },
    /** Cuts strangers that are idle for too long, and whoever does not read. To be called now and then. */
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

/** What changes whenever the other side has read something: of a large piece only the system's queue tells. */
function markUnread(socket: Socket): string {
  const { writeQueueSize = 0 } = (socket as { _handle?: { writeQueueSize?: number } | null })._handle ?? {};
  return `${socket.bytesWritten - socket.writableLength} ${writeQueueSize}`;
}

/** Whether the other end of a connection is a proxy whose address TRUST_PROXY names. */
function isNamedProxy(trustProxy: Config['TRUST_PROXY'], address: string | undefined): boolean {
  return typeof trustProxy === 'object' && matchesCidr(trustProxy, address);
}
