import { createServer, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express } from 'express';
import type { Config } from '../../config.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { startHeartbeats } from '../../inbox/silence/record-heartbeat.ts';
import { closeAfterResponse } from './close-after-response.ts';
import { type Connection, type ConnectionLimits, createConnectionGuard } from './guard-connections.ts';

export type HttpLimits = ConnectionLimits & {
  /** From the connection, or the end of the request before, to the end of the headers: a slow one is cut off. */
  headersTimeoutMs: number;
  /** The same to the end of the body. */
  requestTimeoutMs: number;
  /** How often both are looked at. Node's own 30 s would let a slow-loris stay that much longer. */
  checkEveryMs: number;
  /** Longer than a balancer keeps its own end (60 s is common): the balancer, not we, closes an idle connection. */
  keepAliveMs: number;
  /** How long kept-alive connections may bring one more request after the signal, and are told to go by its answer. */
  lingerMs: number;
  /** What has not been answered by then is cut off. */
  drainMs: number;
};

export const HTTP_LIMITS: HttpLimits = {
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 30_000,
  checkEveryMs: 2_000,
  keepAliveMs: 65_000,
  connectionsMax: 4_096,
  connectionsPerSourceMax: 512,
  connectionsPerSiteMax: 1_024,
  unauthenticatedIdleMs: 5_000,
  stalledMs: 500,
  unreadMs: 30_000,
  pipelinedMax: 16,
  lingerMs: 1_000,
  drainMs: 10_000,
};
const HEADER_BYTES_MAX = 16 * 1024;
const LINGER_POLL_MS = 25;

export type HttpServer = { port: number; [Symbol.asyncDispose](): Promise<void> };
export type ListeningServer = HttpServer & {
  /** Has requests answered by another app from now on; those under way go on where they are. */
  replaceApp(app: Express): void;
};

/** Listens, and writes the receiver's heartbeat while it does. */
export async function serveHttp(context: Context, app: Express, limits: HttpLimits = HTTP_LIMITS): Promise<HttpServer> {
  const server = await listenHttp(context.config, app, limits);
  const beats = startHeartbeats(context);
  return {
    port: server.port,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await beats[Symbol.asyncDispose]();
    },
  };
}

/**
 * Listens on HOST and PORT. Disposing answers the requests under way and those that a balancer has sent before it saw us
 * go, each as the last one on its connection; then it takes no more, and cuts what is left after DRAIN_MS. No answer is
 * cut off in its middle.
 */
export async function listenHttp(
  config: Config,
  first: Express,
  limits: HttpLimits = HTTP_LIMITS,
): Promise<ListeningServer> {
  let app = first;
  const guard = createConnectionGuard(config.TRUST_PROXY, limits);
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    (request, response) => {
      if (guard.begin(request, response)) app(request, response);
    },
  );
  // whoever waits to be asked for his body is asked by whoever reads it, and so not before he is known
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  let draining = false;
  const { connections } = guard;
  server.on('connection', (socket) => guard.admit(socket));
  const sweep = setInterval(() => guard.sweep(), limits.checkEveryMs);
  server.prependListener('request', (_request, response) => {
    if (draining) closeAfterResponse(response);
  });
  await listen(server, config, limits).catch((error: NodeJS.ErrnoException) => {
    const place = `${config.HOST}:${config.PORT}`;
    throw new ConfereError('unavailable', `can't listen on ${place} (${error.code}): set another HOST or PORT`, {
      cause: error,
    });
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : config.PORT,
    replaceApp: (next) => {
      app = next;
    },
    async [Symbol.asyncDispose]() {
      draining = true;
      clearInterval(sweep);
      for (const response of answersUnderWay(connections)) closeAfterResponse(response);
      await linger(server, limits.lingerMs);
      await close(server, connections, limits);
    },
  };
}

function listen(server: Server, { PORT, HOST }: Config, { connectionsMax }: HttpLimits): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // the system keeps as many waiting as its own limit lets it: one that it drops comes again after a second
    server.listen({ port: PORT, host: HOST, backlog: connectionsMax }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** An idle connection that is closed at once may be carrying a request already, which would go unanswered. */
async function linger(server: Server, lingerMs: number): Promise<void> {
  const endMs = Date.now() + lingerMs;
  while (Date.now() < endMs && (await countConnections(server)) > 0) await sleep(LINGER_POLL_MS);
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

/** Of several that were asked for in a row the last one: those before it go on. */
function answersUnderWay(connections: Map<Socket, Connection>): ServerResponse[] {
  return [...connections.values()].flatMap(({ lastResponse: last }) => last ?? []);
}

/**
 * Stops listening; those that are being answered close with their answer. Idle ones, and those whose answer began before
 * they could be told, close soon after the last answer was handed to the system: Node takes a connection for idle once
 * end() was called, whatever is still queued, and would cut it.
 */
function close(server: Server, connections: Map<Socket, Connection>, { lingerMs, drainMs }: HttpLimits): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = (): void => {
      if (answersUnderWay(connections).length === 0) server.closeIdleConnections();
    };
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    const look = setInterval(closeIdle, lingerMs);
    // not by its own close(), which begins by closing what Node takes for idle
    NetServer.prototype.close.call(server, () => {
      clearTimeout(cut);
      clearInterval(look);
      // ends its check for slow requests
      server.close();
      resolve();
    });
    closeIdle();
  });
}
