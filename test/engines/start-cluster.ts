/**
 * Three nodes of a Galera cluster on this machine, as an ordinary user: a node that root starts can't transfer its data by
 * rsync. Needs mariadbd, rsync with MariaDB's `wsrep_sst_rsync` in PATH, and Galera's library (GALERA_PROVIDER).
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { findFreePort } from '../../demo/start-programs.ts';
import { findServer } from '../../embedded/find-server.ts';

const PROVIDER = process.env.GALERA_PROVIDER ?? '/usr/lib/galera/libgalera_smm.so';
const NOBODY = 65_534;
const SYNCED_MS_MAX = 60_000;
const LOG_LINES_SHOWN = 15;

export type ClusterNode = {
  name: string;
  port: number;
  start(): Promise<void>;
  /** Sends SIGKILL and waits until the node is gone. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: its connections stay open without answers. */
  freeze(): void;
  /** Isolates the node from the others while its clients stay connected, or reconnects it. */
  isolate(isAlone: boolean): Promise<void>;
  waitUntilReady(isReady: boolean): Promise<void>;
};

type Ports = { sql: number; group: number; transfer: number; catchUp: number };

/** @returns the nodes, all synced; disposing kills them and removes their data. */
export async function startCluster(): Promise<{ nodes: [ClusterNode, ClusterNode, ClusterNode] } & AsyncDisposable> {
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
  for (const [index, own] of ports.entries()) {
    const node = install(path.join(home, `n${index + 1}`), own, addresses);
    stack.defer(() => node.kill());
    // the first node bootstraps the cluster; later it joins like the others
    await node.start(index === 0);
    nodes.push({ ...node, start: () => node.start(false) });
  }
  const owned = stack.move();
  const [first, second, third] = nodes;
  if (!first || !second || !third) throw new Error('three nodes were asked for');
  return { nodes: [first, second, third], [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function install(home: string, ports: Ports, addresses: string) {
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
  let ended: Promise<unknown> = Promise.resolve();
  let pid: number | undefined;
  const node = {
    name: path.basename(home),
    port: ports.sql,
    async start(isFirst: boolean) {
      const log = openSync(path.join(home, 'log'), 'a');
      const child = spawn(binaries.server, serverOptions(home, ports, isFirst ? '' : addresses), {
        ...user,
        cwd: home,
        stdio: ['ignore', log, log],
        detached: true,
      });
      pid = child.pid;
      ended = new Promise((resolve) => child.once('exit', resolve));
      await node.waitUntilReady(true);
    },
    freeze() {
      if (pid !== undefined) process.kill(pid, 'SIGSTOP');
    },
    async kill() {
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      pid = undefined;
      await ended;
    },
    isolate: (isAlone: boolean) =>
      queryNode(ports.sql, `SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${isAlone ? 1 : 0}'`).then(
        () => undefined,
      ),
    async waitUntilReady(isReady: boolean) {
      const deadline = Date.now() + SYNCED_MS_MAX;
      for (;;) {
        const [row] = await queryNode(ports.sql, "SHOW STATUS LIKE 'wsrep_ready'").catch(() => []);
        if (row?.Value === (isReady ? 'ON' : 'OFF')) return;
        if (Date.now() > deadline) {
          const tail = readFileSync(path.join(home, 'log'), 'utf8').split('\n').slice(-LOG_LINES_SHOWN).join('\n');
          throw new Error(`${node.name} did not become ${isReady ? '' : 'un'}ready:\n${tail}`);
        }
        await sleep(100);
      }
    },
  };
  return node;
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
