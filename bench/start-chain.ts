import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Programs, startPrograms } from '../demo/start-programs.ts';
import { readServerRecord } from '../embedded/find-running-server.ts';
import { ensureDatabase } from '../embedded/open-database.ts';
import type { ChainOptions } from './programs/chain-server.ts';

const START_MS_MAX = 30_000;
const SECRET = 'whk_0123456789abcdef0123456789abcdef';
/** Something that takes webhooks at `/webhooks/pix` and calls a merchant for each. `isQueue`: it asks no provider. */
export type MeasuredChain = {
  name: string;
  url: string;
  secret: string;
  isQueue?: boolean;
  /** Their CPU time can be read (read-cpu.ts). */
  pids: { service: number; database: number };
};

/** Starts our sandbox and `serve`, with a merchant that takes payments: one callback for each webhook, as the peers send. Disposing the stack ends them. */
export async function startOurs(
  stack: AsyncDisposableStack,
  home: string,
  merchantUrl: string,
): Promise<{ chain: MeasuredChain; programs: Programs; socketPath: string }> {
  const signal = new AbortController().signal;
  const programs = stack.use(await startPrograms({ home, seed: '1', rate: undefined, signal }));
  const { app } = programs;
  const merchant = { name: 'bench', url: merchantUrl, events_since: '2020-01-01T00:00:00Z' };
  await app.call('POST', '/merchants', { ...merchant, filter: { statuses: ['paid'] } });
  const { socketPath = '', identity = '' } = readServerRecord(path.join(home, 'data/mariadb')) ?? {};
  const pids = { service: app.pid, database: Number(identity.split(':', 1)[0]) };
  return { chain: { name: 'ours', url: app.url, secret: app.webhookSecret, pids }, programs, socketPath };
}

/** Starts the chain's limit on a database of its own on our server. */
export async function startLimit(
  stack: AsyncDisposableStack,
  options: { socketPath: string; databasePid: number; merchantUrl: string; sandbox: { url: string; apiKey: string } },
): Promise<MeasuredChain> {
  const { socketPath, databasePid, merchantUrl, sandbox } = options;
  const database = 'bench_limit';
  await ensureDatabase({ socketPath, user: 'root' }, database);
  const reached = { socketPath, database, merchantUrl, providerUrl: sandbox.url, apiKey: sandbox.apiKey };
  const { url, pid } = await startServer(stack, 'programs/chain-limit.ts', reached);
  return { name: 'limit', url, secret: SECRET, pids: { service: pid, database: databasePid } };
}

/** Starts Redis, which syncs each write, and a service on BullMQ. @param options.works whether a worker posts. */
export async function startBullmq(
  stack: AsyncDisposableStack,
  options: { home: string; merchantUrl: string; works: boolean },
): Promise<MeasuredChain> {
  const home = path.join(options.home, 'redis');
  mkdirSync(home, { recursive: true });
  const socketPath = path.join(home, 's');
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const server = spawn('redis-server', ['--port', '0', '--unixsocket', socketPath, '--dir', home, ...durable], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  stack.defer(() => end(server));
  await waitForSocket(socketPath);
  const { url, pid } = await startServer(stack, 'peers/bullmq.ts', { ...options, socketPath });
  return { name: 'bullmq', url, secret: SECRET, isQueue: true, pids: { service: pid, database: server.pid ?? 0 } };
}

/** Starts PostgreSQL with its default durability, and a service on pg-boss. @param options.works whether workers post. */
export async function startPgBoss(
  stack: AsyncDisposableStack,
  options: { home: string; merchantUrl: string; works: boolean },
): Promise<MeasuredChain> {
  const home = path.join(options.home, 'postgres');
  const data = path.join(home, 'data');
  mkdirSync(data, { recursive: true });
  const user = chooseUser();
  if (user) {
    chmodSync(options.home, 0o711);
    for (const one of [home, data]) chownSync(one, user.uid, user.gid);
  }
  const version = readdirSync('/usr/lib/postgresql').sort().at(-1) ?? '';
  const binary = (name: string): string => `/usr/lib/postgresql/${version}/bin/${name}`;
  const made = spawn(binary('initdb'), ['-D', data, '-U', 'postgres', '--auth=trust'], {
    ...user,
    cwd: home,
    stdio: 'ignore',
  });
  const [code] = await once(made, 'exit');
  if (code !== 0) throw new Error(`initdb ended with ${code}`);
  const server = spawn(binary('postgres'), ['-D', data, '-k', home, '-c', 'listen_addresses='], {
    ...user,
    cwd: home,
    stdio: 'ignore',
  });
  stack.defer(() => end(server));
  await waitForSocket(path.join(home, '.s.PGSQL.5432'));
  const { url, pid } = await startServer(stack, 'peers/pg-boss.ts', { ...options, socketPath: home });
  // its server works in a process for each connection: their time is not in its own
  return { name: 'pg-boss', url, secret: SECRET, isQueue: true, pids: { service: pid, database: server.pid ?? 0 } };
}

/** PostgreSQL refuses to run as root: Debian's package makes a user for it. */
function chooseUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (kind: '-u' | '-g'): number => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function startServer(
  stack: AsyncDisposableStack,
  program: string,
  options: Partial<ChainOptions>,
): Promise<{ url: string; pid: number }> {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const child = fork(file, [JSON.stringify({ works: true, ...options, secret: SECRET })]);
  stack.defer(async () => {
    if (!child.connected) return;
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${program} ended with ${code}: \`bin/setup --bench\` installs what it needs`);
  });
  ended.catch(() => undefined);
  const [{ port }] = (await Promise.race([once(child, 'message'), ended])) as [{ port: number }];
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0 };
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}

async function waitForSocket(socketPath: string): Promise<void> {
  for (const endMs = Date.now() + START_MS_MAX; Date.now() < endMs; await sleep(50)) {
    const socket = createConnection(socketPath);
    const isUp = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isUp) return;
  }
  throw new Error(`nothing listens on ${socketPath}: see bin/setup --bench`);
}
