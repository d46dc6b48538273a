import { createHash } from 'node:crypto';
import express from 'express';
import { openDatabase } from '../embedded/pool.ts';
import { readConfig } from '../src/config.ts';
import { openContext } from '../src/context.ts';
import type { Database } from '../src/database/tables.ts';
import { webhookIdOf } from '../src/domain/webhook-id.ts';
import { createApp } from '../src/http/app.ts';
import { webhookRoutes } from '../src/http/receive-webhook.ts';
import { serveHttp } from '../src/http/serve-http.ts';
import type { Receiver } from '../src/inbox/receive.ts';
import { createLog } from '../src/log.ts';

/**
 * One of the three receivers that the bench compares, in a process of its own: the same Express app reads and
 * authenticates the body, and then keeps nothing (`bare`), writes one INSERT (`insert`), or is the product (`ours`).
 */
const POOL_CONNECTIONS = 30;
const [mode = 'ours', socketPath = '', database = ''] = process.argv.slice(2);
const config = readConfig(process.env);
const log = createLog('warn', process.stderr);
const context = await openContext(config, { log, signal: new AbortController().signal, migrates: true });

const bare: Receiver = async ({ body }) => {
  const hash = createHash('sha256').update(body).digest();
  return { id: webhookIdOf(hash), duplicate: false, fault: undefined };
};

function insertEach(): Receiver {
  const { db } = openDatabase<Database>({ socketPath, user: 'root', database, connectionLimit: POOL_CONNECTIONS });
  return async ({ body, address, headers }) => {
    const hash = createHash('sha256').update(body).digest();
    await db
      .insertInto('webhooks')
      .values({
        ...{ hash, body, received_at: new Date(), source_address: address },
        ...{ headers: JSON.stringify(headers), state: 'applied' },
      })
      .execute();
    return { id: webhookIdOf(hash), duplicate: false, fault: undefined };
  };
}

function createAppWith(receive: Receiver): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(webhookRoutes(context, receive));
  return app;
}

const app = mode === 'ours' ? createApp(context) : createAppWith(mode === 'bare' ? bare : insertEach());
const server = await serveHttp(context, app);
process.send?.({ port: server.port });
process.on('disconnect', () => process.exit(0));
