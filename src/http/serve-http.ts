import { createServer, type Server } from 'node:http';
import type { Express } from 'express';
import type { Context } from '../context.ts';

const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 65_000;
const CONNECTIONS_MAX = 4_096;
const HEADER_BYTES_MAX = 16 * 1024;
const DRAIN_MS = 10_000;

export type HttpServer = { port: number; [Symbol.asyncDispose](): Promise<void> };

/**
 * Listens on HOST and PORT. Disposing stops taking connections, lets requests under way be answered, tells kept-alive
 * clients to go, and cuts what is left after DRAIN_MS.
 */
export async function serveHttp(context: Context, app: Express): Promise<HttpServer> {
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS, maxHeaderSize: HEADER_BYTES_MAX },
    app,
  );
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxConnections = CONNECTIONS_MAX;
  // while draining, each answer is the last one on its connection
  server.prependListener('request', (_request, response) => {
    if (!server.listening) response.setHeader('connection', 'close');
  });
  await listen(server, context.config.PORT, context.config.HOST);
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : context.config.PORT,
    [Symbol.asyncDispose]: () => drain(server),
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
