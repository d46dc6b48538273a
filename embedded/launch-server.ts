import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { writeServerRecord } from './find-running-server.ts';
import type { ServerBinaries } from './find-server.ts';
import { identifyProcess } from './identify-process.ts';
import { childEnvironment } from './programs/child-environment.ts';

/** The server sets its umask by these variables; its default lets its group read the files. */
const CLOSED = { UMASK: '0600', UMASK_DIR: '0700' };
const SOCKET_PATH_BYTES_MAX = 107;
const POOL_SHARE = 16;
const POOL_MIB_MIN = 256;
const POOL_MIB_MAX = 1024;
const LOG_SHARE = 2;
/** System tables, ours while they are empty, and temporary tables: 90 MiB measured. */
const SYSTEM_MIB = 128;

/** `code`: exit code, signal or error, once the server has ended. */
export type LaunchedServer = { pid: number | undefined; code: number | string | undefined };

/**
 * Creates the system tables in `data.new` and renames it to `data`: neither a kill nor a failure leaves half of them.
 * @throws Error that says where, and how much room the disk has.
 */
export async function initialise(binaries: ServerBinaries, home: string, data: string): Promise<void> {
  refuseSmallDisk(home);
  const draft = path.join(home, 'data.new');
  rmSync(draft, { recursive: true, force: true });
  // as root, mariadb-install-db passes the path to a shell unquoted: use a symlink without blanks
  const alias = `${chooseSocketPath(home)}.d`;
  rmSync(alias, { force: true });
  symlinkSync(home, alias);
  try {
    await install(binaries, home, alias);
    renameSync(draft, data);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    const said = (error as { stderr?: string }).stderr?.trim();
    throw new Error(`the embedded database could not be created under ${home}: ${said || (error as Error).message}`);
  } finally {
    rmSync(alias, { force: true });
  }
}

/** @param bytes of the data that it will have. @throws Error if the disk of a directory has no room for a new server. */
export function refuseSmallDisk(directory: string, bytes = 0): void {
  const { bavail, bsize } = statfsSync(directory);
  const freeMib = Math.floor((bavail * bsize) / 2 ** 20);
  const neededMib = chooseSizes().logMib + SYSTEM_MIB + Math.ceil(bytes / 2 ** 20);
  if (freeMib >= neededMib) return;
  throw new Error(
    `the disk of ${directory} has ${freeMib} MiB free, and the embedded database needs at least ${neededMib} MiB: ` +
      'make room, or set DATA_DIR to a larger disk',
  );
}

async function install(binaries: ServerBinaries, home: string, alias: string): Promise<void> {
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
      { env: childEnvironment(CLOSED) },
    );
  } else {
    await run(
      binaries.server,
      ['--no-defaults', '--initialize-insecure', `--datadir=${draft}`, `--tmpdir=${temporary(home)}`, ...asUser()],
      { env: childEnvironment(CLOSED) },
    );
  }
}

/** Starts a server in a process group of its own and writes its record. */
export function launch(binaries: ServerBinaries, home: string, data: string, socketPath: string): LaunchedServer {
  const log = openSync(path.join(home, 'server.log'), 'a', 0o600);
  const sizes = chooseSizes();
  const child = spawn(
    binaries.server,
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--socket=${socketPath}`,
      `--pid-file=${path.join(home, 'server.pid')}`,
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
    { detached: true, stdio: ['ignore', log, log], cwd: home, env: childEnvironment(CLOSED) },
  );
  closeSync(log);
  const identity = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (identity) writeServerRecord(home, { identity, socketPath });
  const launched: LaunchedServer = { pid: child.pid, code: undefined };
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
 * The buffer pool gets a sixteenth of the machine's memory, or of this process's memory limit; the log gets half as much on
 * the disk. With a small pool or log, commits stall every few seconds until pages are written.
 */
function chooseSizes(): { poolMib: number; logMib: number } {
  const allowed = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const share = Math.min(os.totalmem(), allowed) / POOL_SHARE / 2 ** 20;
  const poolMib = Math.round(Math.min(POOL_MIB_MAX, Math.max(POOL_MIB_MIN, share)));
  return { poolMib, logMib: Math.round(poolMib / LOG_SHARE) };
}

/** A socket path has at most 107 bytes, so it is in the run directory, named by a hash of the data directory. */
export function chooseSocketPath(home: string): string {
  const uid = process.getuid?.() ?? 0;
  const directory = path.join(process.env.XDG_RUNTIME_DIR ?? '/tmp', `confere-${uid}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // lstat: a symlink would put the socket into another user's directory
  const owner = lstatSync(directory);
  if (!owner.isDirectory() || owner.uid !== uid || (owner.mode & 0o077) !== 0) {
    throw new Error(
      `${directory} must be a directory of ${os.userInfo().username} with mode 0700, not a symlink: move it away`,
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

/** As root the server starts only with --user=root. */
export function asUser(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}

/** A temporary directory of its own: in a shared one, a starting server removes the files of running servers. */
function temporary(home: string): string {
  const directory = path.join(home, 'tmp');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}
