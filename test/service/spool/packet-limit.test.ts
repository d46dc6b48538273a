import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { joinServer } from '../../../embedded/join-server.ts';
import { ensureDatabase } from '../../../embedded/open-database.ts';
import { readConfig } from '../../../src/config.ts';
import { type Context, openContext } from '../../../src/context.ts';
import { drainSpool } from '../../../src/inbox/receive/drain-spool.ts';
import { createReceiver } from '../../../src/inbox/receive/receive.ts';
import { openSpool } from '../../../src/inbox/spool/spool.ts';
import { createLog } from '../../../src/log.ts';
import { eventually } from '../../support/eventually.ts';
import { SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';

const MIB = 1024 * 1024;

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
let databaseUrl = '';

/** These change what holds for a whole server: it is their own. */
beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  const { socketPath } = stack.use(await joinServer({ dataDir: home.path, log: () => undefined }));
  await ensureDatabase({ socketPath, user: 'root' }, 'own');
  databaseUrl = urlOf({ socketPath, database: 'own' });
});
afterAll(() => stack.disposeAsync());

/** A context whose sessions have this packet limit, in bytes. */
async function withPackets(packetBytes: number): Promise<Context> {
  const config = readConfig({ DATABASE_URL: databaseUrl, SECRET_KEY });
  const { signal } = new AbortController();
  const opened = { log: createLog('silent', process.stderr), signal, migrates: true };
  await using first = await openContext(config, opened);
  await sql`SET GLOBAL max_allowed_packet = ${sql.lit(packetBytes)}`.execute(first.db);
  // it holds for sessions that begin after it
  return stack.use(await openContext(config, opened));
}

const body = (kib: number): Buffer =>
  Buffer.from(JSON.stringify({ id: randomBytes(8).toString('hex'), pad: 'x'.repeat(kib * 1024) }));

async function countWebhooks(context: Context): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT COUNT(*) AS n FROM webhooks`.execute(context.db);
  return rows[0]?.n ?? 0;
}

it('takes and drains more than the database takes in one packet', async () => {
  const bodies = Array.from({ length: 32 }, () => body(250));

  // the batch is 8 MiB as one prepared INSERT, and 16 MiB as text
  const some = await withPackets(6 * MIB);
  await using spool = openSpool(`${home.path}/spool`);
  const receive = createReceiver(some, spool);
  const send = (one: Buffer) => receive({ body: one, address: '127.0.0.1', headers: {} });
  const answers = await Promise.all(bodies.map(send));
  expect(answers.filter((answer) => answer.duplicate)).toEqual([]);
  expect(spool.isDatabaseDown).toBe(false);
  expect(await countWebhooks(some)).toBe(32);

  // no more than three of these bodies go as text
  const few = await withPackets(2 * MIB);
  spool.isDatabaseDown = true;
  await Promise.all(Array.from({ length: 7 }, () => send(body(250))));
  const stop = new AbortController();
  const drained = drainSpool({ ...few, signal: stop.signal }, spool);
  await eventually(async () => spool.isEmpty());
  stop.abort();
  await drained;
  expect(await countWebhooks(few)).toBe(39);
  expect(spool.isDatabaseDown).toBe(false);
});

it('takes webhooks as text while the server prepares no more statements, and keeps none that failed', async () => {
  const context = await withPackets(16 * MIB);
  const before = await countWebhooks(context);
  const receive = createReceiver(context, undefined);
  const send = () => receive({ body: body(1), address: '127.0.0.1', headers: {} });
  const { rows: was } = await sql<{ n: number }>`SELECT @@GLOBAL.max_prepared_stmt_count AS n`.execute(context.db);
  await sql`SET GLOBAL max_prepared_stmt_count = 0`.execute(context.db);
  expect((await Promise.all([send(), send(), send()])).filter((answer) => answer.duplicate)).toEqual([]);
  expect(await countWebhooks(context)).toBe(before + 3);

  await sql`SET GLOBAL max_prepared_stmt_count = ${sql.lit(was[0]?.n ?? 0)}`.execute(context.db);
  const countPrepared = async () => {
    const { rows } = await sql<{ Value: string }>`SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'`.execute(context.db);
    return Number(rows[0]?.Value);
  };
  await send();
  const prepared = await countPrepared();
  const text = 'SELECT (SELECT 1 UNION SELECT ?)';
  await expect(context.preparedStatements.execute(text, [2], 10_000)).rejects.toMatchObject({ errno: 1242 });
  await eventually(async () => (await countPrepared()) === prepared);
  await context.preparedStatements.execute(text, [1], 10_000);
});
