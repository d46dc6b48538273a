import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { startReceiverMinutes } from '../../inbox/silence/record-minutes.ts';
import type { Connection } from './choose-connection.ts';
import { closeAfterResponse } from './close-after-response.ts';
import { type ConnectionLimits, createConnectionGuard } from './guard-connections.ts';
import { identifyRequest } from './identify-request.ts';
import { createRequestTurns } from './start-in-turns.ts';

export type HttpLimits = ConnectionLimits & {
  /** From the connection, or the end of the request before, to the end of the headers. */
  headersTimeoutMs: number;
  /** From there to the end of the body. */
  requestTimeoutMs: number;
  /** How often both time-outs are checked. With Node's default of 30 s a slow-loris would stay that much longer. */
  checkEveryMs: number;
  /** Longer than a balancer keeps its own end (60 s is common): the balancer, not we, closes an idle connection. */
  keepAliveMs: number;
  /** How long kept-alive connections may send one more request after the signal; its response says `close`. */
  lingerMs: number;
  /** Then connections with unanswered requests are closed. */
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
  /** Passes new requests to another app. Requests under way stay with the old one. */
  replaceApp(app: RequestListener): void;
};

/** Listens, and records the receiver's minutes while it listens. */
export async function serveHttp(
  context: Context,
  app: RequestListener,
  limits: HttpLimits = HTTP_LIMITS,
): Promise<HttpServer> {
  const server = await listenHttp(context.config, app, limits);
  const minutes = startReceiverMinutes(context);
  return {
    port: server.port,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await minutes[Symbol.asyncDispose]();
    },
  };
}

/**
 * Listens on HOST and PORT. Disposing answers the requests under way, and those that a balancer sent before it noticed
 * the shutdown, each with `connection: close`. Then it stops listening, and closes the connections that are left after
 * `drainMs`. Until then no response is truncated.
 */
export async function listenHttp(
  config: Config,
  first: RequestListener,
  limits: HttpLimits = HTTP_LIMITS,
): Promise<ListeningServer> {
  let app = first;
  const guard = createConnectionGuard(config.TRUST_PROXY, limits);
  const { connections } = guard;
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    (request, response) => receive(request, response, app),
  );
  const turns = createRequestTurns();
  function receive(request: IncomingMessage, response: ServerResponse, answer: RequestListener): void {
    if (!guard.begin(request, response)) return;
    const start = (): void => {
      const { 'x-forwarded-for': forwardedFor } = request.headers;
      // from here on, every reader of it has addresses alone
      if (typeof forwardedFor === 'string') request.headers['x-forwarded-for'] = stripPorts(forwardedFor);
      identifyRequest(request, response, () => answer(request, response));
    };
    turns.start({ request, response, start }, connections.get(request.socket)?.activeRequests === 1);
  }
  // the body reader sends 100-continue, after authentication
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', (request, response) => receive(request, response, refuseExpectation));
  let draining = false;
  server.on('connection', (socket) => {
    turns.accepted();
    guard.admit(socket);
  });
  server.prependListener('request', (_request, response) => {
    if (draining) closeAfterResponse(response);
  });
  await listen(server, config, limits).catch((error: NodeJS.ErrnoException) => {
    const listenAddress = `${config.HOST}:${config.PORT}`;
    throw new ConfereError(
      'unavailable',
      `can't listen on ${listenAddress} (${error.code}): set another HOST or PORT`,
      {
        cause: error,
      },
    );
  });
  // not before: where nothing listens, nothing clears it, and the process would never end
  const sweep = setInterval(() => guard.sweep(), limits.checkEveryMs);
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : config.PORT,
    replaceApp: (next) => {
      app = next;
    },
    async [Symbol.asyncDispose]() {
      draining = true;
      clearInterval(sweep);
      for (const response of listLastResponses(connections)) closeAfterResponse(response);
      await linger(server, limits.lingerMs);
      await close(server, connections, limits);
    },
  };
}

/** As Node does, which would not count the request. */
function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(417).end();
}

function listen(server: Server, { PORT, HOST }: Config, { connectionsMax }: HttpLimits): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // the system may cap this backlog; a client retries a dropped connection after a second
    server.listen({ port: PORT, host: HOST, backlog: connectionsMax }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Waits: a request may already be on its way on an idle connection, and would be lost if that were closed at once. */
async function linger(server: Server, lingerMs: number): Promise<void> {
  const endMs = Date.now() + lingerMs;
  while (Date.now() < endMs && (await countConnections(server)) > 0) await sleep(LINGER_POLL_MS);
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

/** The last response under way of each connection. Earlier pipelined ones must not close it. */
function listLastResponses(connections: Map<Socket, Connection>): ServerResponse[] {
  return [...connections.values()].flatMap(({ lastResponse: last }) => last ?? []);
}

/**
 * Stops listening. Connections with a response under way close with it. Idle ones, and those whose response headers were
 * sent before the signal, close once no response is under way: Node considers a connection idle as soon as end() was
 * called, even with queued data, and would truncate it.
 */
function close(server: Server, connections: Map<Socket, Connection>, { lingerMs, drainMs }: HttpLimits): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = (): void => {
      if (listLastResponses(connections).length === 0) server.closeIdleConnections();
    };
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    const poll = setInterval(closeIdle, lingerMs);
    // not the http server's close(), which first closes connections that Node considers idle
    NetServer.prototype.close.call(server, () => {
      clearTimeout(cut);
      clearInterval(poll);
      // stops the server's check for slow requests
      server.close();
      resolve();
    });
    closeIdle();
  });
}

/**
 * Removes the ports of the addresses of an X-Forwarded-For, as Azure, IIS and some balancers write them: `203.0.113.7:51234`,
 * `[2001:db8::7]:443`. An address with a port would match no CIDR block, and each port would be a sender of its own.
 */
function stripPorts(forwardedFor: string): string {
  return forwardedFor
    .split(',')
    .map((part) => {
      const text = part.trim();
      if (text.startsWith('[')) return text.slice(1).split(']', 1)[0];
      const [address, port, ...more] = text.split(':');
      return port !== undefined && more.length === 0 && /^\d{1,5}$/.test(port) ? address : text;
    })
    .join(', ');
}
