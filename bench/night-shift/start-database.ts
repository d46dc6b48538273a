/** A MariaDB of its own on TCP, as an operator has one: it can be stopped, made read-only and filled with connections. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import mysql from 'mysql2/promise';
import { findFreePort } from '../../demo/start-programs.ts';
import { findServer } from '../../embedded/find-server.ts';
import { asUser } from '../../embedded/launch-server.ts';

const START_MS_MAX = 60_000;
const POLL_MS = 200;
/** By docs/configure.md, *Connections*: four processes, and ten for people. */
const CONNECTIONS = 4 * (20 + 11) + 10;
/** While others hold all of them. */
const CONNECTIONS_MIN = 10;
const PASSWORD = 'night-shift';

export type OwnDatabase = AsyncDisposable & {
  /** The address for the owner, who migrates. */
  ownerUrl: string;
  /** The address for the user with the documented grants. */
  url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  run(statements: string): Promise<void>;
  /** Lets another program hold all connections. @returns what lets them go. */
  exhaust(): Promise<() => Promise<void>>;
};

/** Creates and starts the server under `home`. */
export async function startDatabase(home: string): Promise<OwnDatabase> {
  const binaries = findServer();
  if (binaries.kind !== 'mariadb') throw new Error('the night shift needs MariaDB');
  const data = path.join(home, 'db');
  const socketPath = path.join(home, 'db.sock');
  const port = await findFreePort();
  // of its own: a starting server removes the files of others in a shared one
  const tmp = path.join(home, 'db-tmp');
  mkdirSync(tmp, { recursive: true });
  const install = [
    '--no-defaults',
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
  ];
  await promisify(execFile)(binaries.install, [...install, `--datadir=${data}`, `--tmpdir=${tmp}`, ...asUser()]);
  let child: ChildProcess | undefined;
  const own: OwnDatabase = {
    ownerUrl: `mysql://root@localhost/confere?socket=${encodeURIComponent(socketPath)}`,
    url: `mysql://confere:${PASSWORD}@127.0.0.1:${port}/confere`,
    async start() {
      const log = openSync(path.join(home, 'db.log'), 'a');
      const args = [`--datadir=${data}`, `--socket=${socketPath}`, `--port=${port}`, '--bind-address=127.0.0.1'];
      const more = [
        `--tmpdir=${tmp}`,
        '--skip-name-resolve',
        '--character-set-server=utf8mb4',
        '--max-allowed-packet=64M',
      ];
      const limits = [`--max-connections=${CONNECTIONS}`, '--innodb-buffer-pool-size=256M'];
      child = spawn(binaries.server, ['--no-defaults', ...args, ...more, ...limits, ...asUser()], {
        stdio: ['ignore', log, log],
      });
      closeSync(log);
      for (const endMs = Date.now() + START_MS_MAX; ; await sleep(POLL_MS)) {
        const connection = await mysql.createConnection({ socketPath, user: 'root' }).catch(() => undefined);
        if (connection) return await connection.end();
        if (Date.now() > endMs || child.exitCode !== null) throw new Error(`mariadbd did not start: ${home}/db.log`);
      }
    },
    async stop() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
    async run(statements) {
      const connection = await mysql.createConnection({ socketPath, user: 'root', multipleStatements: true });
      await connection.query(statements);
      await connection.end();
    },
    async exhaust() {
      const owner = await mysql.createConnection({ socketPath, user: 'root' });
      const held: mysql.Connection[] = [];
      await owner.query(`SET GLOBAL max_connections = ${CONNECTIONS_MIN}`);
      // the owner's is one of them
      for (const endMs = Date.now() + START_MS_MAX; held.length < CONNECTIONS_MIN - 1; await sleep(0)) {
        if (Date.now() > endMs) throw new Error('the connections could not be taken');
        const [rows] = await owner.query<mysql.RowDataPacket[]>(
          "SELECT id FROM information_schema.processlist WHERE user = 'confere'",
        );
        for (const { id } of rows) await owner.query(`KILL ${id}`).catch(() => undefined);
        const one = await mysql.createConnection({ port, user: 'other', password: PASSWORD }).catch(() => undefined);
        if (one) held.push(one);
      }
      return async () => {
        for (const one of held) await one.end();
        await owner.query(`SET GLOBAL max_connections = ${CONNECTIONS}`);
        await owner.end();
      };
    },
    [Symbol.asyncDispose]: () => own.stop(),
  };
  await own.start();
  await own.run(`CREATE DATABASE confere;
    CREATE USER confere@'%' IDENTIFIED BY '${PASSWORD}'; CREATE USER other@'%' IDENTIFIED BY '${PASSWORD}'`);
  return own;
}
