/** Three nodes of MySQL Group Replication on this machine, as an ordinary user: each has a network of its own, which can be cut. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { asUser } from '../../embedded/launch-server.ts';
import { ENGINES_BIN } from '../support/engines.ts';
import { openTcpProxy } from '../support/open-tcp-proxy.ts';

const NETWORKS = path.join(import.meta.dirname, 'group-networks.sh');
const MYSQLD = path.join(ENGINES_BIN, 'mysqld');
const GROUP = '5e1f0000-0000-4000-8000-00000000c0fe';
const READY_MS_MAX = 180_000;
const POLL_MS = 200;
const ANSWER_MS_MAX = 2_000;
const LOG_LINES_SHOWN = 15;

export type GroupNode = {
  name: string;
  /** The port of a proxy to its socket: clients reach a node that is cut off from the others. */
  port: number;
  /** Starts its server. */
  launch(): Promise<void>;
  /** Joins the group, and waits until it is ONLINE. `founds`: as the first of a new group. */
  join(founds?: boolean): Promise<void>;
  /** Waits until it is ONLINE, and sees this many members that are. */
  waitUntilOnline(members: number): Promise<void>;
  /** Sends SIGKILL and waits until the node is gone. */
  kill(): Promise<void>;
  /** Sends SIGSTOP, or SIGCONT. */
  freeze(isFrozen: boolean): void;
  /** Cuts it off from the others, or connects it. */
  cut(isCut: boolean): void;
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Whether it says that it is the primary, ONLINE, and reaches the majority. */
  isPrimary(): Promise<boolean>;
};

export type Group = AsyncDisposable & { nodes: [GroupNode, GroupNode, GroupNode] };

/** @returns the nodes, all ONLINE; disposing kills them and removes their data. */
export async function startGroup(settings: string[]): Promise<Group> {
  if (!existsSync(MYSQLD)) throw new Error(`there is no ${MYSQLD}: run bin/setup --engines`);
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-group-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const networks = spawn('unshare', ['--user', '--map-root-user', NETWORKS], { stdio: ['pipe', 'pipe', 'inherit'] });
  stack.defer(() => void networks.stdin.end());
  const [pids] = (await once(networks.stdout, 'data')) as [Buffer];
  initialize(home);
  const nodes: GroupNode[] = [];
  for (const [index, pid] of String(pids).trim().split(' ').entries()) {
    const node = await install(home, index + 1, pid, settings, stack);
    await node.launch();
    await node.join(index === 0);
    nodes.push(node);
  }
  const owned = stack.move();
  return { nodes: nodes as Group['nodes'], [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Makes data for all three: nothing in it has a position of its own that the group lacks. */
function initialize(home: string): void {
  const statements = path.join(home, 'init.sql');
  writeFileSync(statements, "CREATE USER root@'%'; GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;");
  const args = ['--no-defaults', '--initialize-insecure', `--datadir=${home}/new`, `--init-file=${statements}`];
  execFileSync(MYSQLD, [...args, ...asUser()], { stdio: 'ignore' });
  // each server makes an id of its own
  rmSync(`${home}/new/auto.cnf`);
}

async function install(
  home: string,
  n: number,
  network: string,
  settings: string[],
  stack: AsyncDisposableStack,
): Promise<GroupNode> {
  const own = path.join(home, `n${n}`);
  mkdirSync(path.join(own, 'tmp'), { recursive: true });
  cpSync(path.join(home, 'new'), path.join(own, 'data'), { recursive: true });
  const socketPath = path.join(own, 's');
  const proxy = stack.use(await openTcpProxy(socketPath));
  let running: ChildProcess | undefined;
  const inNetwork = ['-t', network, '-U', '-n', '--preserve-credentials'];

  async function query(text: string): Promise<Record<string, unknown>[]> {
    const connection = await mysql.createConnection({ socketPath, user: 'root', multipleStatements: true });
    try {
      const answer = connection.query(text).then(([rows]) => (Array.isArray(rows) ? rows : []));
      // cast: rows of names and values
      return (await Promise.race([answer, sleep(READY_MS_MAX, [])])) as Record<string, unknown>[];
    } finally {
      connection.destroy();
    }
  }

  async function waitFor(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + READY_MS_MAX;
    while (!(await isSo().catch(() => false))) {
      if (Date.now() > deadline) throw new Error(`node ${n} ${what}:\n${readTail(path.join(own, 'log.err'))}`);
      await sleep(POLL_MS);
    }
  }

  const node: GroupNode = {
    name: `node ${n}`,
    port: proxy.port,
    query,
    async launch() {
      const args = ['--no-defaults', '--user=root', ...serverOptions(own, n), ...settings];
      const child = spawn('nsenter', [...inNetwork, MYSQLD, ...args], { stdio: 'ignore' });
      running = child;
      await waitFor('does not answer', async () => (await query('SELECT 1')).length === 1);
    },
    async join(founds = false) {
      if (founds) await query('SET GLOBAL group_replication_bootstrap_group = ON');
      await query("START GROUP_REPLICATION USER = 'root'; SET GLOBAL group_replication_bootstrap_group = OFF");
      await node.waitUntilOnline(1);
    },
    waitUntilOnline: (members) =>
      waitFor(`does not see ${members} members`, async () => {
        const own = await readOwn(query);
        return own?.state === 'ONLINE' && Number(own.online) >= members;
      }),
    async kill() {
      const child = running;
      running = undefined;
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    freeze: (isFrozen) => void running?.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT'),
    cut(isCut) {
      execFileSync('nsenter', [...inNetwork, 'ip', 'link', 'set', 'eth', isCut ? 'down' : 'up'], {
        env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
      });
    },
    async isPrimary() {
      const member = await Promise.race([readOwn(query).catch(() => undefined), sleep(ANSWER_MS_MAX, undefined)]);
      return member?.role === 'PRIMARY' && member.state === 'ONLINE' && member.lost === 0;
    },
  };
  stack.defer(() => node.kill());
  return node;
}

async function readOwn(query: GroupNode['query']) {
  const [row] = await query(`SELECT MEMBER_STATE AS state, MEMBER_ROLE AS role,
    (SELECT COUNT(*) * 2 > (SELECT COUNT(*) FROM performance_schema.replication_group_members)
      FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'UNREACHABLE') AS lost,
    (SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE') AS online
    FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid`);
  // cast: the columns above
  return row as { state: string; role: string; lost: number; online: number } | undefined;
}

function serverOptions(home: string, n: number): string[] {
  const seeds = [1, 2, 3].map((one) => `10.77.0.${one}:33061`).join(',');
  return [
    ...[`--datadir=${home}/data`, `--socket=${home}/s`, `--pid-file=${home}/pid`, `--log-error=${home}/log.err`],
    ...[`--tmpdir=${home}/tmp`, '--port=3306', `--bind-address=10.77.0.${n}`, `--report-host=10.77.0.${n}`],
    ...[
      `--server-id=${n}`,
      '--skip-name-resolve',
      '--mysqlx=OFF',
      '--secure-file-priv=',
      '--super-read-only=ON',
      '--max-connections=300',
    ],
    ...[
      '--max-allowed-packet=64M',
      '--innodb-buffer-pool-size=128M',
      '--gtid-mode=ON',
      '--enforce-gtid-consistency=ON',
    ],
    ...['--log-bin-trust-function-creators=ON', '--plugin-load-add=group_replication.so'],
    ...[`--group-replication-group-name=${GROUP}`, `--group-replication-local-address=10.77.0.${n}:33061`],
    ...[`--group-replication-group-seeds=${seeds}`, '--group-replication-ip-allowlist=10.77.0.0/24'],
    ...['--group-replication-start-on-boot=OFF', '--group-replication-recovery-get-public-key=ON'],
  ];
}

function readTail(file: string): string {
  return readFileSync(file, 'utf8').split('\n').slice(-LOG_LINES_SHOWN).join('\n');
}
