import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { joinServer } from '../../../embedded/join-server.ts';
import { ensureDatabase } from '../../../embedded/open-database.ts';
import { eventually } from '../../support/eventually.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type Call, openMerchantServer } from '../../support/open-merchant-server.ts';
import { numRuns } from '../../support/property.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const PAYMENTS = numRuns(60, 150);
const HISTORY = ['pending', 'in_process', 'paid'];

async function startChild(environment: CallbackEnvironment): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('deliver-child.ts', import.meta.url)), {
    env: { ...process.env, ...environment.env },
  });
  await once(child, 'message');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** As if a minute had passed since a process died: what it had leased is due. */
async function endLeases(environment: CallbackEnvironment): Promise<void> {
  const now = environment.context.clock.now();
  await environment.context.db
    .updateTable('callbacks')
    .set({ lease_until: now, next_attempt_at: now })
    .where('lease_holder', 'is not', null)
    .where('state', '=', 'pending')
    .execute();
  environment.context.wakeUps.callbacks.notify();
}

async function countUndelivered(environment: CallbackEnvironment): Promise<number> {
  const row = await environment.context.db
    .selectFrom('callbacks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', '<>', 'delivered')
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Every payment's events came, none before the one before it, and none under two ids. */
function expectAllInOrder(calls: Call[]): void {
  const byPayment = Map.groupBy(calls, (call) => call.json.data.transaction.id);
  expect(byPayment.size).toBe(PAYMENTS);
  for (const list of byPayment.values()) {
    const first = new Map<string, number>();
    for (const { headers, json } of list) {
      if (!first.has(headers['webhook-id'] ?? ''))
        first.set(headers['webhook-id'] ?? '', json.data.transaction.sequence);
    }
    expect([...first.values()]).toEqual([1, 2, 3]);
  }
}

test('two workers share the work: everything arrives exactly once, in order', async () => {
  await using environment = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  await environment.addMerchant(`${shop.url}/a`);
  await environment.deliver();
  await environment.deliver();
  await environment.applyTransactions(PAYMENTS, HISTORY);
  await eventually('all', async () => (await countUndelivered(environment)) === 0);
  expect(shop.calls).toHaveLength(PAYMENTS * HISTORY.length);
  expectAllInOrder(shop.calls);
});

test('a worker that is killed again and again loses nothing, and what it repeats keeps its id', async () => {
  await using environment = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  await environment.addMerchant(`${shop.url}/a`);
  await environment.applyTransactions(PAYMENTS, HISTORY);
  for (let kills = 0; kills < numRuns(2, 4); kills++) {
    const child = await startChild(environment);
    const before = shop.calls.length;
    await eventually('some more', () => shop.calls.length >= before + 20);
    await kill(child);
    await endLeases(environment);
  }
  const last = await startChild(environment);
  await eventually('all', async () => (await countUndelivered(environment)) === 0);
  await kill(last);
  expectAllInOrder(shop.calls);
});

test('a database that cuts its connections in the middle loses nothing', async () => {
  await using environment = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  await environment.addMerchant(`${shop.url}/a`);
  await environment.applyTransactions(PAYMENTS, HISTORY);
  await environment.deliver();
  const own = await sql<{ db: string }>`SELECT DATABASE() AS db`.execute(environment.context.db);
  for (let cuts = 0; cuts < 5; cuts++) {
    const before = shop.calls.length;
    await eventually('some more', () => shop.calls.length > before || shop.calls.length >= PAYMENTS * HISTORY.length);
    const { rows } = await sql<{ id: number }>`SELECT ID AS id FROM information_schema.PROCESSLIST
      WHERE DB = ${own.rows[0]?.db} AND ID <> CONNECTION_ID()`.execute(environment.context.db);
    for (const { id } of rows) {
      await sql`KILL CONNECTION ${sql.lit(id)}`.execute(environment.context.db).catch(() => undefined);
    }
  }
  await environment.advanceUntil('all but what is leased', async () => {
    await endLeases(environment);
    return (await countUndelivered(environment)) === 0;
  });
  expectAllInOrder(shop.calls);
});

test('a database server that is stopped in the middle and comes back loses nothing', async () => {
  using home = temporaryDirectory();
  const joined = await joinServer({ dataDir: home.path, log: () => undefined });
  await using _ = joined;
  const target = { socketPath: joined.socketPath, user: 'root' };
  await ensureDatabase(target, 'confere');
  await using environment = await openCallbackEnvironment({}, { ...target, database: 'confere' });
  await using shop = await openMerchantServer();
  await environment.addMerchant(`${shop.url}/a`);
  await environment.applyTransactions(PAYMENTS, HISTORY);
  await environment.deliver();
  await eventually('some', () => shop.calls.length > 30);
  process.kill(Number(readFileSync(path.join(home.path, 'mariadb/server.pid'), 'utf8')), 'SIGKILL');
  await environment.advanceUntil('the rest', async () => {
    // unavailable at first: a process that joined the server restarts it
    const left = await countUndelivered(environment).catch(() => undefined);
    if (left !== undefined && left > 0) await endLeases(environment).catch(() => undefined);
    return left === 0;
  });
  expectAllInOrder(shop.calls);
});
