/**
 * Three nodes of a Galera cluster on this machine, as an ordinary user: a node that root starts can't transfer its data by
 * rsync. Needs mariadbd, rsync with MariaDB's `wsrep_sst_rsync` in PATH, and Galera's library (GALERA_PROVIDER).
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { findFreePort } from '../../demo/start-programs.ts';
import { findServer } from '../../embedded/find-server.ts';

const PROVIDER = process.env.GALERA_PROVIDER ?? '/usr/lib/galera/libgalera_smm.so';
const NOBODY = 65_534;
const SYNCED_MS_MAX = 60_000;
const POLL_MS = 100;
const LOG_LINES_SHOWN = 15;
/** A node that crashes by itself is started again after this, and at most so often. */
const RESTART_AFTER_MS = 1_000;
const RESTARTS_MAX = 5;

export type ClusterNode = {
  name: string;
  port: number;
  start(): Promise<void>;
  /** Sends SIGKILL and waits until the node is gone. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: its connections stay open without answers. */
  freeze(): void;
  /** Isolates the node from the others while its clients stay connected, or reconnects it, and waits until it knows. */
  isolate(isAlone: boolean): Promise<void>;
};

export type Cluster = AsyncDisposable & {
  nodes: [ClusterNode, ClusterNode, ClusterNode];
  /** What each node says that ended without being asked to. It was started again: a crash of mariadbd is not our failure. */
  crashes: string[];
};

type Ports = { sql: number; group: number; transfer: number; catchUp: number };

/** @returns the nodes, all synced; disposing kills them and removes their data. */
export async function startCluster(): Promise<Cluster> {
  if (!existsSync(PROVIDER)) throw new Error(`there is no ${PROVIDER}: install galera-4, or set GALERA_PROVIDER`);
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-galera-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  chmodSync(home, 0o755);
  const ports: Ports[] = [];
  for (let n = 0; n < 3; n++) {
    const [sql, group] = [await findFreePort(), await findFreePort()];
    ports.push({ sql, group, transfer: await findFreePort(), catchUp: await findFreePort() });
  }
  const addresses = ports.map((one) => `127.0.0.1:${one.group}`).join(',');
  const nodes: ClusterNode[] = [];
  const crashes: string[] = [];
  for (const [index, own] of ports.entries()) {
    const node = install(path.join(home, `n${index + 1}`), own, { addresses, crashes });
    stack.defer(() => node.kill());
    // the first node bootstraps the cluster; later it joins like the others
    await node.start(index === 0);
    nodes.push({ ...node, start: () => node.start(false) });
  }
  const owned = stack.move();
  const [first, second, third] = nodes;
  if (!first || !second || !third) throw new Error('three nodes were asked for');
  return { nodes: [first, second, third], crashes, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function install(home: string, ports: Ports, { addresses, crashes }: { addresses: string; crashes: string[] }) {
  const binaries = findServer();
  if (binaries.kind !== 'mariadb') throw new Error('Galera wants MariaDB');
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  for (const directory of [home, path.join(home, 'tmp')]) {
    mkdirSync(directory);
    if (user.uid) chownSync(directory, user.uid, user.gid);
  }
  const data = path.join(home, 'data');
  execFileSync(
    binaries.install,
    ['--no-defaults', '--auth-root-authentication-method=normal', '--skip-test-db', `--datadir=${data}`],
    { ...user, cwd: home, stdio: 'ignore' },
  );
  const name = path.basename(home);
  let running: ChildProcess | undefined;
  let restarts = 0;

  function launch(isFirst: boolean): void {
    const log = openSync(path.join(home, 'log'), 'a');
    const child = spawn(binaries.server, serverOptions(home, ports, isFirst ? '' : addresses), {
      ...user,
      cwd: home,
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    running = child;
    child.once('exit', (code, signal) => {
      if (running !== child) return;
      crashes.push(`mariadbd of ${name} ended by itself (${signal ?? `exit code ${code}`}):\n${readTail(home)}`);
      console.error(crashes.at(-1));
      if (restarts++ < RESTARTS_MAX) setTimeout(() => running === child && launch(false), RESTART_AFTER_MS);
    });
  }

  /** Repeats a request to the node until it is ready, or is not: it may crash meanwhile, and starts again. */
  async function waitUntilReady(isReady: boolean, request: () => Promise<unknown> = async () => undefined) {
    const deadline = Date.now() + SYNCED_MS_MAX;
    for (;;) {
      await request().catch(() => undefined);
      const [row] = await queryNode(ports.sql, "SHOW STATUS LIKE 'wsrep_ready'").catch(() => []);
      if (row?.Value === (isReady ? 'ON' : 'OFF')) return;
      if (Date.now() > deadline)
        throw new Error(`${name} did not become ${isReady ? '' : 'un'}ready:\n${readTail(home)}`);
      await sleep(POLL_MS);
    }
  }

  return {
    name,
    port: ports.sql,
    async start(isFirst: boolean) {
      launch(isFirst);
      await waitUntilReady(true);
    },
    freeze() {
      running?.kill('SIGSTOP');
    },
    async kill() {
      const child = running;
      running = undefined;
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    isolate: (isAlone: boolean) =>
      waitUntilReady(!isAlone, () =>
        queryNode(ports.sql, `SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${isAlone ? 1 : 0}'`),
      ),
  };
}

function readTail(home: string): string {
  return readFileSync(path.join(home, 'log'), 'utf8').split('\n').slice(-LOG_LINES_SHOWN).join('\n');
}

function serverOptions(home: string, ports: Ports, addresses: string): string[] {
  const own = [`gmcast.listen_addr=tcp://127.0.0.1:${ports.group}`, `ist.recv_addr=127.0.0.1:${ports.catchUp}`];
  return [
    ...['--no-defaults', `--datadir=${path.join(home, 'data')}`, `--tmpdir=${path.join(home, 'tmp')}`],
    ...[`--socket=${path.join(home, 's')}`, `--port=${ports.sql}`, '--bind-address=127.0.0.1', '--skip-name-resolve'],
    ...[`--pid-file=${path.join(home, 'pid')}`, '--character-set-server=utf8mb4', '--max-allowed-packet=64M'],
    ...['--max-connections=300', '--innodb-flush-log-at-trx-commit=1', '--innodb-log-file-size=48M'],
    ...['--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--wsrep-on=ON', `--wsrep-provider=${PROVIDER}`],
    ...['--wsrep-cluster-name=confere', `--wsrep-node-name=${path.basename(home)}`, '--wsrep-sst-method=rsync'],
    ...[`--wsrep-node-address=127.0.0.1:${ports.group}`, `--wsrep-sst-receive-address=127.0.0.1:${ports.transfer}`],
    ...[`--wsrep-cluster-address=gcomm://${addresses}`, `--wsrep-provider-options=${own.join(';')}`],
  ];
}

/** Queries a node on a new connection. */
export async function queryNode(port: number, text: string): Promise<Record<string, unknown>[]> {
  const connection = await mysql.createConnection({ host: '127.0.0.1', port, user: 'root' });
  try {
    const [rows] = await connection.query(text);
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
  } finally {
    connection.destroy();
  }
}
