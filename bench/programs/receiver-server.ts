import { hash } from 'node:crypto';
import { openDatabase } from '../../embedded/open-database.ts';
import { readConfig } from '../../src/config.ts';
import { openContext } from '../../src/context.ts';
import type { Database } from '../../src/database/tables.ts';
import { webhookIdOf } from '../../src/domain/ids.ts';
import { serveHttp } from '../../src/http/connections/serve-http.ts';
import { createApp } from '../../src/http/create-app.ts';
import { checkBody } from '../../src/inbox/receive/check-body.ts';
import type { Receiver } from '../../src/inbox/receive/receive.ts';
import { openSpool } from '../../src/inbox/spool/spool.ts';
import { createLog } from '../../src/log.ts';

/**
 * One of the three receivers that the bench compares, in a process of its own. The same app reads and authenticates
 * the body; then it stores nothing (`bare`), writes one INSERT (`insert`), or is the product (`ours`).
 */
const POOL_CONNECTIONS = 30;
const [mode = 'ours', socketPath = '', database = ''] = process.argv.slice(2);
const config = readConfig(process.env);
const log = createLog('warn', process.stderr);
const context = await openContext(config, { log, signal: new AbortController().signal, migrates: true });

const bare: Receiver = async ({ body }) => {
  return { id: webhookIdOf(hash('sha256', body, 'buffer')), duplicate: false, defect: checkBody(body).defect };
};

function insertEach(): Receiver {
  const { db } = openDatabase<Database>({ socketPath, user: 'root', database, connectionLimit: POOL_CONNECTIONS });
  return async ({ body, address, headers }) => {
    const digest = hash('sha256', body, 'buffer');
    await db
      .insertInto('webhooks')
      .values({
        ...{ hash: digest, body, received_at: new Date(), source_address: address },
        ...{ headers: JSON.stringify(headers), state: 'applied' },
      })
      .execute();
    return { id: webhookIdOf(digest), duplicate: false, defect: undefined };
  };
}

const spool = mode === 'ours' ? openSpool(config.SPOOL_DIR ?? '') : undefined;
const app = createApp(context, spool, mode === 'bare' ? bare : mode === 'insert' ? insertEach() : undefined);
const server = await serveHttp(context, app);
process.send?.({ port: server.port });
process.on('disconnect', () => process.exit(0));
