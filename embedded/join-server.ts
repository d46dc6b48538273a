/**
 * The embedded database server: a private MariaDB (or MySQL) under a data directory, on a socket, without a TCP port,
 * durable (flushed at every commit). Every process that needs it joins it; the first one starts it, in a process group
 * of its own so that a signal to us does not stop it before the drain; the last one out stops it. A server that
 * outlived a killed process is adopted through its socket; one that does not answer any more is ended, once its pid,
 * start time and data directory were checked, and never while another living process has joined it.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  findRunningServer,
  isAnswering,
  readFileOrEmpty,
  readServerRecord,
  SERVER_TIMEOUTS,
  stopServer,
  waitForAnswer,
  writeServerRecord,
} from './find-running-server.ts';
import { findServer, type ServerBinaries } from './find-server.ts';
import { identifyProcess, setBatchPolicy } from './identify-process.ts';
import { registerProcess, withLock } from './register-process.ts';

const START_TIMEOUT_MS = 60_000;
const POLL_MS = 20;
const WATCH_MS = 2_000;
const SOCKET_PATH_BYTES_MAX = 107;
const POOL_SHARE = 16;
const POOL_MIB_MIN = 256;
const POOL_MIB_MAX = 1024;
const LOG_SHARE = 2;

/** Its code, signal or error once it has ended. */
type Launched = { pid: number | undefined; code: number | string | undefined };
export type JoinedServer = { socketPath: string; [Symbol.asyncDispose](): Promise<void> };

/**
 * Joins the server of `dataDir`, starting it when nobody has. Dispose to leave.
 * @param options.patience how long a server may be silent, and how long it may take to stop, in ms: PATIENCE unless a
 * test shortens them.
 * @throws Error with the tail of the server's log when it does not come up within START_TIMEOUT_MS.
 */
export async function joinServer(options: {
  dataDir: string;
  log: (message: string) => void;
  patience?: typeof SERVER_TIMEOUTS;
}): Promise<JoinedServer> {
  const { log, patience = SERVER_TIMEOUTS } = options;
  const directory = path.join(path.resolve(options.dataDir), 'mariadb');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // one name for one directory: the server is told by it
  const home = realpathSync(directory);
  const members = registerProcess(home);
  let socketPath: string;
  try {
    socketPath = await withLock(home, () => bringUp(home, members.others, log, patience));
  } catch (error) {
    members.leave();
    throw error;
  }
  let left = false;
  const watchdog = watchServer(socketPath, log, () =>
    // under the lock: who leaves meanwhile must not leave a server behind that was started for it
    withLock(home, async () => {
      if (!left) await bringUp(home, members.others, log, patience);
    }),
  );
  return {
    socketPath,
    async [Symbol.asyncDispose]() {
      if (left) return;
      left = true;
      clearInterval(watchdog);
      await withLock(home, async () => {
        members.leave();
        const running = findRunningServer(home);
        if (running && members.others() === 0) await stopServer(running, log, patience.stopMs);
      });
    },
  };
}

/** A server that was killed or crashed is started again by whoever sees it first. */
function watchServer(socketPath: string, log: (message: string) => void, restart: () => Promise<void>): NodeJS.Timeout {
  let busy = false;
  const look = async (): Promise<void> => {
    if (busy || (await isAnswering(socketPath))) return;
    busy = true;
    try {
      await restart();
    } catch (error) {
      log(`the embedded database is away and could not be started: ${(error as Error).message}`);
    } finally {
      busy = false;
    }
  };
  return setInterval(() => void look(), WATCH_MS).unref();
}

/** @returns the socket of the server that runs, whoever started it and under whatever run directory. */
async function bringUp(
  home: string,
  others: () => number,
  log: (message: string) => void,
  patience: typeof SERVER_TIMEOUTS,
): Promise<string> {
  const running = findRunningServer(home);
  if (running && (await waitForAnswer(running, patience.silentMs))) {
    await giveWay(Number(running.identity.split(':', 1)[0]), log);
    return running.socketPath;
  }
  if (running && others() > 0) {
    throw new Error(
      `the embedded database ${running.identity.split(':', 1)[0]} under ${home} does not answer on ` +
        `${running.socketPath}, and another process uses it: stop that one, or wait`,
    );
  }
  if (running) await stopServer(running, log, patience.stopMs);
  const binaries = findServer();
  const data = path.join(home, 'data');
  if (!existsSync(data)) await initialise(binaries, home, data);
  // those that joined the one before look for it where it was
  const before = others() > 0 ? readServerRecord(home)?.socketPath : undefined;
  const socketPath = before && existsSync(path.dirname(before)) ? before : chooseSocketPath(home);
  rmSync(socketPath, { force: true });
  const launched = launch(binaries, home, data, socketPath);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await isAnswering(socketPath))) {
    if (launched.code !== undefined || Date.now() > deadline) throw new Error(describeFailure(home, launched.code));
    await sleep(POLL_MS);
  }
  if (launched.pid !== undefined) await giveWay(launched.pid, log);
  log(`embedded database started under ${home}`);
  return socketPath;
}

/** On few cores each statement would interrupt the thread that asks it, in the middle of its work. */
async function giveWay(pid: number, log: (message: string) => void): Promise<void> {
  if (await setBatchPolicy(pid)) return;
  log('the embedded database could not be made batch work (chrt of util-linux): on few cores it is slower so');
}

/** Creates the system tables beside their final place and moves them there whole: a kill leaves no half of them. */
async function initialise(binaries: ServerBinaries, home: string, data: string): Promise<void> {
  rmSync(path.join(home, 'data.new'), { recursive: true, force: true });
  // as root, mariadb-install-db hands the path to a shell unquoted: a name without blanks leads there
  const alias = `${chooseSocketPath(home)}.d`;
  rmSync(alias, { force: true });
  symlinkSync(home, alias);
  const draft = path.join(alias, 'data.new');
  const run = promisify(execFile);
  if (binaries.kind === 'mariadb') {
    await run(
      binaries.install,
      [
        '--no-defaults',
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        '--skip-name-resolve',
        `--innodb-log-file-size=${chooseSizes().logMib}M`,
        `--datadir=${draft}`,
        `--tmpdir=${path.join(alias, path.basename(temporary(home)))}`,
        ...asUser(),
      ],
      { env: closedEnv() },
    );
  } else {
    await run(
      binaries.server,
      ['--no-defaults', '--initialize-insecure', `--datadir=${draft}`, `--tmpdir=${temporary(home)}`, ...asUser()],
      { env: closedEnv() },
    );
  }
  renameSync(path.join(home, 'data.new'), data);
  rmSync(alias, { force: true });
}

function launch(binaries: ServerBinaries, home: string, data: string, socketPath: string): Launched {
  const log = openSync(path.join(home, 'server.log'), 'a', 0o600);
  const sizes = chooseSizes();
  const child = spawn(
    binaries.server,
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--socket=${socketPath}`,
      `--pid-file=${path.join(home, 'server.pid')}`,
      // of its own: a server that starts removes what another one has in a shared one
      `--tmpdir=${temporary(home)}`,
      '--skip-networking',
      '--innodb-flush-log-at-trx-commit=1',
      `--innodb-buffer-pool-size=${sizes.poolMib}M`,
      `--innodb-log-file-size=${sizes.logMib}M`,
      '--character-set-server=utf8mb4',
      '--skip-name-resolve',
      '--max-allowed-packet=64M',
      '--max-connections=300',
      ...(binaries.kind === 'mysql' ? ['--mysqlx=OFF', '--secure-file-priv=', '--skip-log-bin'] : []),
      ...asUser(),
    ],
    { detached: true, stdio: ['ignore', log, log], cwd: home, env: closedEnv() },
  );
  closeSync(log);
  const identity = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (identity) writeServerRecord(home, { identity, socketPath });
  const launched: Launched = { pid: child.pid, code: undefined };
  child.on('error', (error) => {
    launched.code = error.message;
  });
  child.on('exit', (code, signal) => {
    launched.code = code ?? signal ?? 'unknown';
  });
  child.unref();
  return launched;
}

/**
 * A sixteenth of the machine's memory, or of what this process may have of it, is for pages; half as much on the
 * disk is for the log. Where either is small, commits stand still every few seconds until pages are written.
 */
function chooseSizes(): { poolMib: number; logMib: number } {
  const allowed = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const share = Math.min(os.totalmem(), allowed) / POOL_SHARE / 2 ** 20;
  const poolMib = Math.round(Math.min(POOL_MIB_MAX, Math.max(POOL_MIB_MIN, share)));
  return { poolMib, logMib: Math.round(poolMib / LOG_SHARE) };
}

/** A socket path must fit 107 bytes: it stands under the run directory, named by a hash of the data directory. */
function chooseSocketPath(home: string): string {
  const uid = process.getuid?.() ?? 0;
  const directory = path.join(process.env.XDG_RUNTIME_DIR ?? '/tmp', `confere-${uid}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // of the name itself: a link would lead the socket to where somebody else wants it
  const owner = lstatSync(directory);
  if (!owner.isDirectory() || owner.uid !== uid || (owner.mode & 0o077) !== 0) {
    throw new Error(
      `${directory} must be a directory that belongs to ${os.userInfo().username} alone (mode 0700), and no link: move it away`,
    );
  }
  const name = `${createHash('sha256').update(home).digest('hex').slice(0, 16)}.sock`;
  const socketPath = path.join(directory, name);
  if (Buffer.byteLength(socketPath) > SOCKET_PATH_BYTES_MAX) {
    throw new Error(
      `${socketPath} is longer than ${SOCKET_PATH_BYTES_MAX} bytes: set XDG_RUNTIME_DIR to a shorter one`,
    );
  }
  return socketPath;
}

function describeFailure(home: string, code: number | string | undefined): string {
  const tail = readFileOrEmpty(path.join(home, 'server.log')).trim().split('\n').slice(-5).join('\n');
  const what = code === undefined ? `did not answer in ${START_TIMEOUT_MS / 1000} s` : `ended (${code})`;
  return `the embedded database ${what}; the end of ${path.join(home, 'server.log')}:\n${tail}`;
}

/** A server sets its own umask by these, and would give its group what it writes. */
function closedEnv(): NodeJS.ProcessEnv {
  return { ...process.env, UMASK: '0600', UMASK_DIR: '0700' };
}

/** As root the server asks to be told so. */
function asUser(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}

/** A directory of its own: a starting server clears what others left in a shared one, and takes theirs with it. */
function temporary(home: string): string {
  const directory = path.join(home, 'tmp');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}
