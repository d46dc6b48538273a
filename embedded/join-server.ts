/**
 * The embedded database server: a private MariaDB (or MySQL) under a data directory, on a socket, without a TCP port. It
 * flushes at every commit.
 *
 * Every process that needs the server joins it. The first one starts it, in a process group of its own, so that a signal
 * to us does not stop it before the drain. The last one to leave stops it. A server that outlived a killed process is
 * adopted through its socket. A server that no longer answers is stopped, after its pid, start time and data directory
 * were checked, and never while another running process has joined it.
 */
import { existsSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeSystemError } from './files/describe-system-error.ts';
import { makeDirectory } from './files/make-directory.ts';
import {
  findRunningServer,
  isAnswering,
  readFileOrEmpty,
  readServerRecord,
  SERVER_TIMEOUTS,
  stopServer,
  waitForAnswer,
} from './find-running-server.ts';
import { findServer } from './find-server.ts';
import { setBatchPolicy } from './identify-process.ts';
import { chooseSocketPath, initialise, launch } from './launch-server.ts';
import { countProcesses, registerProcess, withLock } from './register-process.ts';

const START_TIMEOUT_MS = 60_000;
const POLL_MS = 20;
const WATCH_MS = 2_000;
/** Lines of the server's log: one start's. */
const LOG_LINES = 50;

export type JoinedServer = { socketPath: string; [Symbol.asyncDispose](): Promise<void> };

/**
 * Joins the server of `dataDir` and starts it if it does not run. Dispose to leave.
 * @param options.timeouts in ms; tests whose servers never answer or stop pass short ones.
 * @throws Error with the end of the server's log if it does not answer within START_TIMEOUT_MS.
 */
export async function joinServer(options: {
  dataDir: string;
  log: (message: string) => void;
  timeouts?: typeof SERVER_TIMEOUTS;
}): Promise<JoinedServer> {
  const { log, timeouts = SERVER_TIMEOUTS } = options;
  const directory = path.join(path.resolve(options.dataDir), 'mariadb');
  makeDirectory(directory);
  // findRunningServer compares this path with --datadir: symlinks must be resolved
  const home = realpathSync(directory);
  const members = registerProcess(home);
  let socketPath: string;
  try {
    socketPath = await withLock(home, () => bringUp(home, members.others, log, timeouts));
  } catch (error) {
    members.leave();
    throw error;
  }
  let left = false;
  const watchdog = watchServer(socketPath, log, () =>
    // under the lock: a process that leaves meanwhile must not leave a new server behind
    withLock(home, async () => {
      if (!left) await bringUp(home, members.others, log, timeouts);
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
        if (running && members.others() === 0) await stopServer(running, log, timeouts.stopMs);
      });
    },
  };
}

/**
 * Stops the server of `dataDir` if all processes that joined it are gone, as after a kill: then its files can be removed. Writes
 * nothing, since the disk may be full. The caller keeps others out.
 * @returns false if a running process uses it.
 */
export async function stopAbandonedServer(options: {
  dataDir: string;
  log: (message: string) => void;
}): Promise<boolean> {
  const directory = path.join(path.resolve(options.dataDir), 'mariadb');
  if (!existsSync(directory)) return true;
  const home = realpathSync(directory);
  if (countProcesses(home) > 0) return false;
  const running = findRunningServer(home);
  if (running) await stopServer(running, options.log, SERVER_TIMEOUTS.stopMs);
  return true;
}

/** Restarts a server that was killed or crashed. The first process that notices does it. */
function watchServer(socketPath: string, log: (message: string) => void, restart: () => Promise<void>): NodeJS.Timeout {
  let busy = false;
  const check = async (): Promise<void> => {
    if (busy || (await isAnswering(socketPath))) return;
    busy = true;
    try {
      await restart();
    } catch (error) {
      log(
        `the embedded database stopped and could not be restarted: ${describeSystemError(error) ?? (error as Error).message}`,
      );
    } finally {
      busy = false;
    }
  };
  return setInterval(() => void check(), WATCH_MS).unref();
}

/** @returns the socket of the running server, which another process may have started under another run directory. */
async function bringUp(
  home: string,
  others: () => number,
  log: (message: string) => void,
  timeouts: typeof SERVER_TIMEOUTS,
): Promise<string> {
  const running = findRunningServer(home);
  if (running && (await waitForAnswer(running, timeouts.silentMs))) {
    await useBatchPolicy(Number(running.identity.split(':', 1)[0]), log);
    return running.socketPath;
  }
  if (running && others() > 0) {
    throw new Error(
      `the embedded database ${running.identity.split(':', 1)[0]} under ${home} does not answer on ` +
        `${running.socketPath}, and another process uses it: stop that process, or wait`,
    );
  }
  if (running) await stopServer(running, log, timeouts.stopMs);
  const binaries = findServer();
  const data = path.join(home, 'data');
  if (!existsSync(data)) await initialise(binaries, home, data);
  // processes that joined the previous server connect to its socket path
  const before = others() > 0 ? readServerRecord(home)?.socketPath : undefined;
  const socketPath = before && existsSync(path.dirname(before)) ? before : chooseSocketPath(home);
  rmSync(socketPath, { force: true });
  const launched = launch(binaries, home, data, socketPath);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await isAnswering(socketPath))) {
    if (launched.code !== undefined || Date.now() > deadline) throw new Error(describeFailure(home, launched.code));
    await sleep(POLL_MS);
  }
  if (launched.pid !== undefined) await useBatchPolicy(launched.pid, log);
  log(`embedded database started under ${home}`);
  return socketPath;
}

/** On few cores each statement would otherwise preempt the thread that sends it. */
async function useBatchPolicy(pid: number, log: (message: string) => void): Promise<void> {
  if (await setBatchPolicy(pid)) return;
  log('chrt (util-linux) could not set the batch policy of the embedded database: it is slower on few cores');
}

function describeFailure(home: string, code: number | string | undefined): string {
  const lines = readFileOrEmpty(path.join(home, 'server.log')).trim().split('\n').slice(-LOG_LINES);
  const errors = lines.filter((line) => line.includes('[ERROR]'));
  const tail = (errors.length > 0 ? errors : lines).slice(-5).join('\n');
  const problem = code === undefined ? `did not answer in ${START_TIMEOUT_MS / 1000} s` : `ended (${code})`;
  return `the embedded database ${problem}; the end of ${path.join(home, 'server.log')}:\n${tail}`;
}
