import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { CompiledQuery } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { identifyProcess, isRunning, readCommandLine } from '../../../embedded/identify-process.ts';
import { joinServer } from '../../../embedded/join-server.ts';
import { openConnectionPool, openDatabase } from '../../../embedded/open-database.ts';
import { startProgram } from '../../../embedded/programs/run-client.ts';
import { copyEmbeddedData } from '../../support/copy-embedded-data.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const JOIN = fileURLToPath(new URL('./join-server-process.ts', import.meta.url));
const quiet = { log: () => undefined };
/** Short, because the servers of these tests never answer or stop. */
const impatient = { ...quiet, timeouts: { silentMs: 200, stopMs: 200 } };

let home: ReturnType<typeof temporaryDirectory>;
let children: ChildProcess[] = [];
let joined = 0;

beforeEach(() => {
  home = temporaryDirectory();
});
/** Copies the system tables, which the first start takes seconds to create. */
const useInitialised = () => copyEmbeddedData(home.path);

afterEach(async () => {
  for (const child of children) await end(child, 'SIGKILL');
  children = [];
  // adopts a server that a test left behind, and stops it by leaving
  if (serversOf(home.path).length > 0) {
    await (await joinServer({ dataDir: home.path, ...quiet }))[Symbol.asyncDispose]();
  }
  expect(serversOf(home.path)).toEqual([]);
  home[Symbol.dispose]();
});

/** Returns the pids of all database servers on a data directory. */
function serversOf(dataDir: string): number[] {
  const argument = `--datadir=${path.join(dataDir, 'mariadb/data')} `;
  return (
    readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && identifyProcess(pid) !== undefined && readCommandLine(pid).includes(argument))
      // the program that creates the system tables names them too
      .filter((pid) => readCommandLine(pid).includes('--skip-networking'))
  );
}

async function joinElsewhere(env: Record<string, string> = {}, dataDir = home.path) {
  const saysIn = path.join(home.path, `joined-${joined++}`);
  const child = spawn(process.execPath, [JOIN, dataDir, saysIn], { env: { ...process.env, ...env }, stdio: 'inherit' });
  children.push(child);
  const socketPath = await eventually(async () => existsSync(saysIn) && readFileSync(saysIn, 'utf8'));
  return { child, socketPath };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

async function query(socketPath: string, text: string): Promise<unknown[]> {
  await using opened = openDatabase({ socketPath, user: 'root' });
  return (await opened.db.executeQuery(CompiledQuery.raw(text))).rows;
}

test('the first process starts the server, the others join it, and the last one to leave stops it', async () => {
  const first = await joinServer({ dataDir: home.path, ...quiet });
  const [pid] = serversOf(home.path);
  const second = await joinServer({ dataDir: home.path, ...quiet });
  const third = await joinElsewhere();
  expect(second.socketPath).toBe(first.socketPath);
  expect(third.socketPath).toBe(first.socketPath);
  expect(serversOf(home.path)).toEqual([pid]);
  await first[Symbol.asyncDispose]();
  await end(third.child, 'SIGTERM');
  expect(await query(second.socketPath, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await second[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  expect(serversOf(home.path)).toEqual([]);
});

test('processes that start at once start one server', async () => {
  const all = await Promise.all(Array.from({ length: 4 }, () => joinElsewhere()));
  expect(serversOf(home.path)).toHaveLength(1);
  expect(new Set(all.map((one) => one.socketPath)).size).toBe(1);
});

test('the server has no port, flushes at every commit, and keeps its data', async () => {
  await useInitialised();
  const socketPath = await (async () => {
    await using server = await joinServer({ dataDir: home.path, ...quiet });
    const rows = await query(
      server.socketPath,
      'SELECT @@skip_networking AS alone, @@innodb_flush_log_at_trx_commit AS flush',
    );
    expect(rows).toEqual([{ alone: 1, flush: 1 }]);
    await query(server.socketPath, 'CREATE DATABASE kept');
    return server.socketPath;
  })();
  await expect(query(socketPath, 'SELECT 1')).rejects.toThrow();
  await using again = await joinServer({ dataDir: home.path, ...quiet });
  expect(await query(again.socketPath, "SHOW DATABASES LIKE 'kept'")).toHaveLength(1);
});

test('all threads of the server have the batch policy, also new ones and those of an adopted server', async () => {
  await useInitialised();
  await using server = await joinServer({ dataDir: home.path, ...quiet });
  await using database = openDatabase({ socketPath: server.socketPath, user: 'root' });
  await database.db.executeQuery(CompiledQuery.raw('SELECT 1'));
  const [pid = 0] = serversOf(home.path);
  expect(policiesOf(pid)).toEqual(new Set(['3']));
  execFileSync('chrt', ['-a', '-o', '-p', '0', String(pid)]);
  expect(policiesOf(pid)).toEqual(new Set(['0']));
  await using _ = await joinServer({ dataDir: home.path, ...quiet });
  expect(policiesOf(pid)).toEqual(new Set(['3']));
});

test('the server keeps a policy that somebody set', async () => {
  await useInitialised();
  await using server = await joinServer({ dataDir: home.path, ...quiet });
  const [pid = 0] = serversOf(home.path);
  execFileSync('chrt', ['-a', '-i', '-p', '0', String(pid)]);
  await using again = await joinServer({ dataDir: home.path, ...quiet });
  expect(again.socketPath).toBe(server.socketPath);
  expect(policiesOf(pid)).toEqual(new Set(['5']));
});

/** sched(7): 0 is SCHED_OTHER, 3 SCHED_BATCH, 5 SCHED_IDLE. In proc(5) it is field 41; the text after the last ')' starts at field 3. */
function policiesOf(pid: number): Set<string | undefined> {
  const threads = readdirSync(`/proc/${pid}/task`);
  return new Set(
    threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ').pop()?.split(' ')[38]),
  );
}

test('the running server of a killed process is adopted', async () => {
  await useInitialised();
  const { child, socketPath } = await joinElsewhere();
  const [pid] = serversOf(home.path);
  await end(child, 'SIGKILL');
  const adopted = await joinServer({ dataDir: home.path, ...quiet });
  expect(adopted.socketPath).toBe(socketPath);
  expect(serversOf(home.path)).toEqual([pid]);
  await adopted[Symbol.asyncDispose]();
  expect(serversOf(home.path), 'the killed one does not count as a member').toEqual([]);
});

test('an orphaned server that no longer answers is stopped, and its data are taken over', async () => {
  await useInitialised();
  const { child, socketPath } = await joinElsewhere();
  await query(socketPath, 'CREATE DATABASE kept');
  const [orphan = 0] = serversOf(home.path);
  await end(child, 'SIGKILL');
  process.kill(orphan, 'SIGSTOP');
  await using next = await joinServer({ dataDir: home.path, ...impatient });
  expect(serversOf(home.path)).not.toContain(orphan);
  expect(await query(next.socketPath, "SHOW DATABASES LIKE 'kept'")).toHaveLength(1);
});

test('a slow server that others use is never stopped: joining it fails with an error', async () => {
  await useInitialised();
  const { socketPath } = await joinElsewhere();
  const [pid = 0] = serversOf(home.path);
  process.kill(pid, 'SIGSTOP');
  await expect(joinServer({ dataDir: home.path, ...impatient })).rejects.toThrow(
    /does not answer.*another process uses it/,
  );
  process.kill(pid, 'SIGCONT');
  expect(await query(socketPath, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(serversOf(home.path)).toEqual([pid]);
});

test('a process under another run directory, or by another path to the data, joins the same server', async () => {
  await useInitialised();
  const runDirectory = path.join(home.path, 'run');
  mkdirSync(runDirectory, { mode: 0o700 });
  symlinkSync(home.path, path.join(home.path, 'link'));
  await using first = await joinServer({ dataDir: home.path, ...quiet });
  const [pid] = serversOf(home.path);
  const elsewhere = await joinElsewhere({ XDG_RUNTIME_DIR: runDirectory });
  const linked = await joinElsewhere({}, path.join(home.path, 'link'));
  expect([elsewhere.socketPath, linked.socketPath]).toEqual([first.socketPath, first.socketPath]);
  expect(serversOf(home.path)).toEqual([pid]);
});

test('a stale pid file that names a foreign process stops nothing', async () => {
  await useInitialised();
  const stranger = spawn('sleep', ['60']);
  children.push(stranger);
  const identity = identifyProcess(stranger.pid ?? 0) ?? '';
  writeFileSync(path.join(home.path, 'mariadb/server.pid'), `${stranger.pid}\n`);
  writeFileSync(path.join(home.path, 'mariadb/server.started'), `${identity}\n/tmp/none.sock\n`);
  await using server = await joinServer({ dataDir: home.path, ...quiet });
  expect(await query(server.socketPath, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(isRunning(identity)).toBe(true);
});

test('a data directory with a long path still gets a short socket', async () => {
  const deep = path.join(home.path, 'd'.repeat(100), 'e'.repeat(60));
  const server = await joinServer({ dataDir: deep, ...quiet });
  expect(Buffer.byteLength(server.socketPath)).toBeLessThanOrEqual(107);
  expect(await query(server.socketPath, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await server[Symbol.asyncDispose]();
  expect(serversOf(deep)).toEqual([]);
});

test('a server that crashes is restarted on the same socket', async () => {
  await useInitialised();
  const { socketPath } = await joinElsewhere();
  process.kill(serversOf(home.path)[0] ?? 0, 'SIGKILL');
  await eventually(async () => (await query(socketPath, 'SELECT 1 AS one').catch(() => [])).length === 1);
});

test('each session commits each statement and keeps each character, also where the server has other defaults', async () => {
  await useInitialised();
  await using server = await joinServer({ dataDir: home.path, ...quiet });
  const { socketPath } = server;
  await query(socketPath, 'CREATE DATABASE own CHARACTER SET utf8mb4');
  await query(socketPath, 'CREATE TABLE own.t (n INT PRIMARY KEY, name TEXT) ENGINE=InnoDB');
  // root gets no init_connect
  await query(socketPath, 'CREATE USER app@localhost');
  await query(socketPath, 'GRANT ALL ON own.* TO app@localhost');
  await query(socketPath, 'SET GLOBAL autocommit = 0');
  await query(socketPath, "SET GLOBAL init_connect = 'SET NAMES utf8mb3'");
  const target = { socketPath, user: 'app', database: 'own' };
  await using opened = openDatabase(target);
  const beside = openConnectionPool(target);
  await opened.db.executeQuery(CompiledQuery.raw('INSERT INTO t VALUES (1, ?)', ['Zoë 🏦']));
  await new Promise<void>((resolve, reject) =>
    beside.getConnection((unavailable, connection) => {
      if (unavailable) return reject(unavailable);
      connection.execute('INSERT INTO t VALUES (2, ?)', ['Zoë 🏦'], (error) => (error ? reject(error) : resolve()));
      connection.release();
    }),
  );
  const stored = [1, 2].map((n) => ({ n, name: 'Zoë 🏦' }));
  expect(await query(socketPath, 'SELECT n, name FROM own.t')).toEqual(stored);
  await new Promise((resolve) => beside.end(resolve));
});

test('neither the server nor a client program is started with a secret of ours in its environment', async () => {
  await useInitialised();
  const { child, socketPath } = await joinElsewhere({
    SECRET_KEY: 'canary-key',
    PROVIDER_API_KEY: 'canary',
    MYSQL_PWD: 'x',
  });
  const [pid] = serversOf(home.path);
  const names = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  expect(names).toContain('UMASK=0600');
  expect(names.filter((one) => /canary|MYSQL_PWD/.test(one))).toEqual([]);
  expect(socketPath).not.toBe('');
  await end(child, 'SIGTERM');
  process.env.SECRET_KEY_CANARY = 'canary';
  try {
    const program = startProgram('env', [], AbortSignal.timeout(10_000));
    program.input.end();
    expect(await readAll(program.output)).not.toContain('canary');
    await program.ended;
  } finally {
    delete process.env.SECRET_KEY_CANARY;
  }
});
