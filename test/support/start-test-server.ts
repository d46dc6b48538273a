import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { findServer, type ServerBinaries } from '../../embedded/find-server.ts';
import { asUser } from '../../embedded/launch-server.ts';

const START_MS_MAX = 60_000;
const POLL_MS = 20;

/**
 * Not durable: copying a template takes 40 ms in memory, 170 ms on a disk without syncs, and over a second with them. A test
 * whose subject is durability starts an embedded server instead.
 */
const NOT_DURABLE = [
  '--innodb-stats-persistent=OFF',
  '--innodb-flush-log-at-trx-commit=0',
  '--skip-innodb-doublewrite',
  // a copy of the template has 79 tables: a file for each takes a fifth of its time
  '--innodb-file-per-table=OFF',
];
const NEVER_SYNC = ['--innodb-flush-method=nosync', '--debug-no-sync'];

export type TestServer = { socketPath: string; stop(): Promise<void> };

/** Starts the database server of a test run, without durability. */
export async function startTestServer(binaries: ServerBinaries = findServer()): Promise<TestServer> {
  const parent = tmpdir();
  removeLeftovers(parent);
  const home = mkdtempSync(path.join(parent, `confere-test-${process.pid}-`));
  const socketPath = path.join(home, 'server.sock');
  const data = path.join(home, 'data');
  const tmp = path.join(home, 'tmp');
  mkdirSync(tmp);
  initialise(binaries, data);
  const [command = '', ...args] = [
    ...killWithParent(),
    binaries.server,
    '--no-defaults',
    `--datadir=${data}`,
    `--socket=${socketPath}`,
    `--tmpdir=${tmp}`,
    '--skip-networking',
    '--character-set-server=utf8mb4',
    '--skip-name-resolve',
    '--max-allowed-packet=64M',
    '--max-connections=600',
    '--innodb-buffer-pool-size=512M',
    // each database has tables of its own: the default of 400 definitions is that of five
    '--table-definition-cache=20000',
    ...NOT_DURABLE,
    ...(binaries.kind === 'mysql' ? ['--mysqlx=OFF', '--secure-file-priv=', '--skip-log-bin'] : NEVER_SYNC),
    ...asUser(),
  ];
  const child = spawn(command, args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  };
  const deadline = Date.now() + START_MS_MAX;
  while (!(await answers(socketPath))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`the tests' database server did not start: ${[command, ...args].join(' ')}`);
    }
    await sleep(POLL_MS);
  }
  return { socketPath, stop };
}

/** Removes the directories of runs that were killed: in memory they take space until the machine restarts. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^confere-test-(\d+)-/.exec(name)?.[1]);
    if (pid > 0 && !isRunning(pid)) rmSync(path.join(parent, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Creates the system tables of a server, without syncs. */
export function initialise(binaries: ServerBinaries, data: string): void {
  const [command, ...args] =
    binaries.kind === 'mariadb'
      ? [binaries.install, '--no-defaults', '--auth-root-authentication-method=normal', '--skip-test-db', ...NEVER_SYNC]
      : [binaries.server, '--no-defaults', '--initialize-insecure'];
  execFileSync(command, [...args, `--datadir=${data}`, ...asUser()], { stdio: 'ignore' });
}

/** With util-linux, the kernel kills the server when the run that started it is killed. */
function killWithParent(): string[] {
  const setpriv = '/usr/bin/setpriv';
  return existsSync(setpriv) ? [setpriv, '--pdeathsig', 'KILL', '--'] : [];
}

async function answers(socketPath: string): Promise<boolean> {
  try {
    const connection = await mysql.createConnection({ socketPath, user: 'root' });
    await connection.end();
    return true;
  } catch {
    return false;
  }
}
