import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { sql } from 'kysely';
import mysql from 'mysql2';
import { expect, test, vi } from 'vitest';
import { detectUnresponsiveHost } from '../../../embedded/detect-unresponsive-host.ts';
import { chooseHost } from '../../../embedded/examine-hosts.ts';
import { openDatabase } from '../../../embedded/open-database.ts';
import { parseDatabaseUrl } from '../../../embedded/parse-database-url.ts';
import { openPreparedStatements } from '../../../src/database/open/open-prepared-statements.ts';
import type { Database } from '../../../src/database/tables.ts';
import { transact } from '../../../src/database/transact.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { openTcpProxy } from '../../support/open-tcp-proxy.ts';

test('the next host is used while the first is away, also if it disappears during the work', async () => {
  const { socketPath, database } = await createTestDatabase();
  const [first, second] = [await openTcpProxy(socketPath), await openTcpProxy(socketPath)];
  const url = `mysql://root@127.0.0.1:${first.port}/${database}?hosts=127.0.0.1:${second.port}`;
  await using opened = openDatabase<Database>({ ...parseDatabaseUrl(url), connectionLimit: 2 });
  await sql`CREATE TABLE t (n INT PRIMARY KEY)`.execute(opened.db);
  const add = (n: number) =>
    transact(opened.db, async (trx) => {
      // the second run finds the row
      await sql`INSERT INTO t VALUES (${n}) ON DUPLICATE KEY UPDATE n = n`.execute(trx);
    });
  await add(1);
  expect(second.taken()).toBe(0);
  const adding = Array.from({ length: 40 }, (_, index) => add(index + 2));
  first.cut();
  await Promise.all(adding);
  expect(second.taken()).toBeGreaterThan(0);
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM t`.execute(opened.db);
  expect(rows[0]?.count).toBe(41);
  second.cut();
});

test('a first host that is dead from the start does not prevent a start', async () => {
  const { socketPath, database } = await createTestDatabase();
  const way = await openTcpProxy(socketPath);
  const url = `mysql://root@127.0.0.1:1/${database}?hosts=127.0.0.1:${way.port}`;
  await using opened = openDatabase<Database>(parseDatabaseUrl(url));
  const { rows } = await sql<{ one: number }>`SELECT 1 AS one`.execute(opened.db);
  expect(rows[0]?.one).toBe(1);
  way.cut();
});

test('a pool ends although a connection fails that it was opening', async () => {
  const { socketPath, database } = await createTestDatabase();
  using proxy = await openTcpProxy(socketPath);
  const opened = openDatabase<Database>({ host: '127.0.0.1', port: proxy.port, user: 'root', database });
  proxy.freeze();
  const asked = sql`SELECT 1`.execute(opened.db).catch((error: Error) => error);
  await eventually('the connection', () => proxy.taken() === 1);
  const ended = opened[Symbol.asyncDispose]();
  proxy.cut();
  await ended;
  expect(await asked).toBeInstanceOf(Error);
});

test('programs beside the pool use the host that takes writes', async () => {
  const { socketPath, database } = await createTestDatabase();
  const [first, second] = [await openTcpProxy(socketPath), await openTcpProxy(socketPath)];
  const target = parseDatabaseUrl(`mysql://root@127.0.0.1:${first.port}/${database}?hosts=127.0.0.1:${second.port}`);
  expect(await chooseHost(target)).toMatchObject({ port: first.port });
  for (const state of ['read only', 'cut off'] as const) {
    first.become(state);
    expect(await chooseHost(target)).toMatchObject({ port: second.port });
  }
  second.cut();
  await expect(chooseHost(target)).rejects.toThrow();
  first.cut();
});

/** Two proxies to one server, the table `t`, and a pool over both. */
async function openBoth(stack: AsyncDisposableStack) {
  const { socketPath, database } = await createTestDatabase();
  const [first, second] = [await openTcpProxy(socketPath), await openTcpProxy(socketPath)];
  for (const way of [first, second]) stack.defer(() => way.cut());
  const target = parseDatabaseUrl(`mysql://root@127.0.0.1:${first.port}/${database}?hosts=127.0.0.1:${second.port}`);
  const alone = stack.use(openDatabase<Database>({ socketPath, database, user: 'root', connectionLimit: 1 }));
  await sql`CREATE TABLE t (n INT PRIMARY KEY)`.execute(alone.db);
  const read = async () =>
    (await sql<{ n: number }>`SELECT n FROM t ORDER BY n`.execute(alone.db)).rows.map((row) => row.n);
  return { first, second, target, read, db: stack.use(openDatabase<Database>({ ...target, connectionLimit: 2 })).db };
}

test('a host that became read-only has its work done by the next', async () => {
  await using stack = new AsyncDisposableStack();
  const { first, second, read, db } = await openBoth(stack);
  let runs = 0;
  await transact(db, async (trx) => {
    await sql`INSERT INTO t VALUES (${10 + runs++})`.execute(trx);
    if (runs === 1) first.become('read only');
    await sql`INSERT INTO t VALUES (${20 + runs})`.execute(trx);
  });
  expect(await read()).toEqual([11, 22]);
  // such a host is skipped at once; its open connections are not used any more
  const [known, taken] = [first.taken(), second.taken()];
  await sql`INSERT INTO t VALUES (3)`.execute(db);
  expect(first.taken()).toBe(known);
  expect(taken).toBeGreaterThan(0);
});

test.each(['read only', 'cut off'] as const)('a first host that is %s does not prevent a start', async (state) => {
  await using stack = new AsyncDisposableStack();
  const { first, target, read } = await openBoth(stack);
  first.become(state);
  await using opened = openDatabase<Database>(target);
  await sql`INSERT INTO t VALUES (1)`.execute(opened.db);
  await using prepared = openPreparedStatements(target, 1);
  await prepared.execute('INSERT INTO t VALUES (?)', [2], 5_000);
  expect(await read()).toEqual([1, 2]);
});

test('a primary that is cut off from its group, and hangs at COMMIT, is left for the next host', async () => {
  await using stack = new AsyncDisposableStack();
  const { first, db, read } = await openBoth(stack);
  await sql`SELECT 1`.execute(db);
  // only the check for silence runs faster
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  stack.defer(() => void vi.useRealTimers());
  let runs = 0;
  let isDone = false;
  const adding = transact(db, async (trx) => {
    if (++runs === 1) first.become('cut off');
    await sql`INSERT INTO t VALUES (${runs})`.execute(trx);
  }).finally(() => {
    isDone = true;
  });
  await eventually('it is run again', () => {
    vi.advanceTimersByTime(250);
    return isDone;
  });
  await adding;
  expect([runs, await read()]).toEqual([2, [2]]);
});

test('the next transaction commits nothing of one whose rollback was refused', async () => {
  await using stack = new AsyncDisposableStack();
  const { first, read, target } = await openBoth(stack);
  const { others: _, ...alone } = target as typeof target & { others: unknown };
  const { db } = stack.use(openDatabase<Database>({ ...alone, connectionLimit: 1 }));
  const half = db.transaction().execute(async (trx) => {
    await sql`INSERT INTO t VALUES (1)`.execute(trx);
    first.become('not ready');
    // sent together, and both answered
    await Promise.all([2, 3].map((n) => sql`INSERT INTO t VALUES (${n})`.execute(trx)));
  });
  await expect(half).rejects.toMatchObject({ errno: 1047 });
  first.become('well');
  await transact(db, (trx) => sql`INSERT INTO t VALUES (4)`.execute(trx));
  expect(await read()).toEqual([4]);
});

test('the next statement is committed by itself where the rollback of a text of several statements failed', async () => {
  await using stack = new AsyncDisposableStack();
  const { first, read, target } = await openBoth(stack);
  const { others: _, ...alone } = target as typeof target & { others: unknown };
  const prepared = stack.use(openPreparedStatements(alone, 1));
  first.become('no rollback');
  const texts = ['INSERT INTO t VALUES (1)', 'INSERT INTO absent VALUES (2)'];
  const half = prepared.transact(
    texts.map((text) => ({ text, values: [] })),
    5_000,
  );
  await expect(half).rejects.toMatchObject({ errno: 1146 });
  first.become('well');
  await prepared.execute('INSERT INTO t VALUES (?)', [4], 5_000);
  expect(await read()).toEqual([4]);
});

test('a connection whose session can not be prepared leaves its pool, which goes on', async () => {
  await using stack = new AsyncDisposableStack();
  const { first, target } = await openBoth(stack);
  const { others: _, ...alone } = target as typeof target & { others: unknown };
  const { db } = stack.use(openDatabase({ ...alone, connectionLimit: 1 }));
  first.become('no session');
  await expect(sql`SELECT 1`.execute(db)).rejects.toThrow();
  first.become('well');
  expect((await sql`SELECT 1 AS one`.execute(db)).rows).toEqual([{ one: 1 }]);
});

test('statements on a silent connection fail as lost, and the pool opens another one', async () => {
  const { socketPath } = await createTestDatabase();
  const pool = mysql.createPool({ socketPath, user: 'root', connectionLimit: 1 });
  let nowMs = 0;
  const silence = detectUnresponsiveHost(
    (callback) => callback(Object.assign(new Error('silent'), { code: 'ETIMEDOUT' })),
    () => undefined,
    () => nowMs,
  );
  pool.on('connection', (connection) => silence.watch(connection));
  const ask = (text: string) =>
    new Promise((resolve, reject) =>
      pool.getConnection((unavailable, connection) => {
        if (unavailable) return reject(unavailable);
        connection.query(text, (error, rows) => {
          connection.release();
          if (error) reject(error);
          else resolve(rows);
        });
        nowMs += 10_000;
      }),
    );
  await expect(ask('SELECT SLEEP(60)')).rejects.toMatchObject({ code: 'PROTOCOL_CONNECTION_LOST' });
  silence.stop();
  expect(await ask('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await new Promise((resolve) => pool.end(resolve));
});

test('the statements of a single host fail too once it is silent, in transactions and prepared', async () => {
  await using stack = new AsyncDisposableStack();
  const { first, target } = await openBoth(stack);
  const { others: _, ...alone } = target as typeof target & { others: unknown };
  // only the check for silence runs faster
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  stack.defer(() => void vi.useRealTimers());
  const { db } = stack.use(openDatabase<Database>({ ...alone, connectionLimit: 1 }));
  const prepared = stack.use(openPreparedStatements(alone, 1));
  const add = () => prepared.execute('INSERT INTO t VALUES (1)', [], 600_000);
  await sql`SELECT 1`.execute(db);
  await add();
  first.vanish();
  const lost: unknown[] = [];
  for (const waiting of [sql`SELECT 1`.execute(db), add()]) waiting.catch((error: unknown) => lost.push(error));
  await eventually(async () => {
    vi.advanceTimersByTime(2_000);
    return lost.length === 2;
  });
  expect(lost).toMatchObject([{ code: 'PROTOCOL_CONNECTION_LOST' }, { code: 'PROTOCOL_CONNECTION_LOST' }]);
});

test.each(['one host', 'several hosts'])(
  'a statement whose connection alone was dropped is run again, and its session locks nothing any more (%s)',
  async (hosts) => {
    await using stack = new AsyncDisposableStack();
    const { first, target, read } = await openBoth(stack);
    const { others, ...alone } = target as typeof target & { others: unknown };
    // only the check for silence runs faster
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    stack.defer(() => void vi.useRealTimers());
    const { db } = stack.use(
      openDatabase<Database>({
        ...alone,
        ...(hosts === 'one host' ? {} : { others }),
        connectionLimit: 1,
      } as typeof target),
    );
    await sql`INSERT INTO t VALUES (1)`.execute(db);
    let runs = 0;
    // the server runs the statement, which locks the row, and its answer is lost
    first.silenceFrom((text) => runs === 1 && text.includes('+ 10'));
    let isDone = false;
    const changed = transact(db, async (trx) => {
      runs++;
      await sql`UPDATE t SET n = n + 10`.execute(trx);
    }).finally(() => {
      isDone = true;
    });
    await eventually('it is run again', () => {
      // eventually() waits by this clock too: small steps leave the probes time
      vi.advanceTimersByTime(250);
      return isDone;
    });
    await changed;
    expect([runs, await read()]).toEqual([2, [11]]);
  },
);

test('a statement that takes long is waited for while its host greets', async () => {
  await using stack = new AsyncDisposableStack();
  const { target, db: other } = await openBoth(stack);
  const { others: _, ...alone } = target as typeof target & { others: unknown };
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  stack.defer(() => void vi.useRealTimers());
  const { db } = stack.use(openDatabase<Database>({ ...alone, connectionLimit: 1 }));
  await sql`INSERT INTO t VALUES (1)`.execute(db);
  let waited: unknown;
  await other.transaction().execute(async (trx) => {
    await sql`UPDATE t SET n = 2`.execute(trx);
    waited = sql`UPDATE t SET n = n + 10`.execute(db).then(
      () => 'done',
      (error: unknown) => error,
    );
    // each answer of the server shows that the probes before it had time to end
    for (let turn = 0; turn < 20; turn++) {
      vi.advanceTimersByTime(2_000);
      await sql`SELECT SLEEP(0.02)`.execute(trx);
    }
  });
  expect(await waited).toBe('done');
});

test.each([
  ['one host', 'of which an answer is waited for', ''],
  ['one host', 'of which nothing is waited for', ''],
  ['several hosts', 'of which an answer is waited for', '?hosts=127.0.0.1:1'],
])('a process that is done ends, though %s vanished, %s', async (_, waits, query) => {
  const { socketPath, database } = await createTestDatabase();
  const way = await openTcpProxy(socketPath);
  const script = `
    import { once } from 'node:events';
    import { sql } from 'kysely';
    import { parseDatabaseUrl } from '${path.resolve('embedded/parse-database-url.ts')}';
    import { openDatabase } from '${path.resolve('embedded/open-database.ts')}';
    const opened = openDatabase(parseDatabaseUrl(process.argv[1]));
    await sql\`SELECT 1\`.execute(opened.db);
    process.stdout.write('open');
    await once(process.stdin, 'data');
    process.stdin.destroy();
    if (process.argv[2].includes('an answer')) sql\`SELECT 2\`.execute(opened.db).catch(() => undefined);
    // one turn of the event loop later it is sent
    await new Promise(setImmediate);
    await opened[Symbol.asyncDispose]();
  `;
  const url = `mysql://root@127.0.0.1:${way.port}/${database}${query}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, url, waits], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  way.vanish();
  const exited = once(child, 'exit');
  child.stdin.write('go');
  expect(await exited).toEqual([0, null]);
  way.cut();
});
