import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express, { type Express } from 'express';
import type { Context } from '../../context.ts';
import { refuse } from '../../texts/refuse.ts';
import { authenticate, getCaller } from '../access/authorize.ts';
import { checkHost } from '../access/check-host.ts';
import { createAuthGuard } from '../access/guard-auth-attempts.ts';
import { createBareApp } from '../create-bare-app.ts';
import { handleErrors } from '../send-problem.ts';
import { createMcpServer } from './create-mcp-server.ts';

const BODY_BYTES_MAX = 64 * 1024;

/**
 * The app of `confere mcp --http`: `POST /mcp` with `Authorization: Bearer`, without sessions, so any replica may answer. A body
 * has one message: a batch could hold a thousand reads.
 */
export function createMcpApp(context: Context): Express {
  const app = createBareApp(context.config);
  app.use(checkHost(context.config), authenticate(context, createAuthGuard(context)));
  app.post('/mcp', express.json({ limit: BODY_BYTES_MAX, type: () => true }), async (request, response) => {
    if (Array.isArray(request.body)) throw refuse('mcp_batch');
    const caller = getCaller(response);
    const server = createMcpServer(context, async () => caller);
    // without a session id, each request stands alone
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.once('close', () => void server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
  app.use(() => {
    throw refuse('address_unknown');
  });
  app.use(handleErrors(context.log));
  return app;
}
