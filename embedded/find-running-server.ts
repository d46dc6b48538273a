import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeText } from './files/write-text.ts';
import { isRunning, readCommandLine } from './identify-process.ts';

/**
 * `silentMs`: a running server that does not greet for this long counts as unresponsive. `stopMs`: time to stop before it
 * is killed.
 */
export const SERVER_TIMEOUTS = { silentMs: 5_000, stopMs: 15_000 };
const POLL_MS = 20;

/** A server process that was started for a data directory: its pid and start time, and where it listens. */
export type RunningServer = { identity: string; socketPath: string };

/**
 * Returns the server that was started for this directory, if it still runs. Its pid, start time and `--datadir` must match.
 * The record is written right after the start, because the server writes its own pid file only when it is up.
 */
export function findRunningServer(home: string): RunningServer | undefined {
  const started = readServerRecord(home);
  if (!started || !isRunning(started.identity)) return undefined;
  const command = readCommandLine(Number(started.identity.split(':', 1)[0]));
  return command.includes(`--datadir=${path.join(home, 'data')} `) ? started : undefined;
}

export function readServerRecord(home: string): RunningServer | undefined {
  const [identity, socketPath] = readFileOrEmpty(startedFile(home)).split('\n');
  return identity && socketPath ? { identity, socketPath } : undefined;
}

export async function waitForAnswer({ identity, socketPath }: RunningServer, silentMs: number): Promise<boolean> {
  const deadline = Date.now() + silentMs;
  for (;;) {
    if (await isAnswering(socketPath)) return true;
    if (Date.now() > deadline || !isRunning(identity)) return false;
    await sleep(POLL_MS);
  }
}

/** Stops the server, and kills it when it does not stop within `stopMs`. Returns when it is gone. */
export async function stopServer(
  { identity }: RunningServer,
  log: (message: string) => void,
  stopMs: number,
): Promise<void> {
  const pid = Number(identity.split(':', 1)[0]);
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + stopMs;
  while (isRunning(identity)) {
    if (Date.now() > deadline) {
      log(`embedded database ${pid} did not stop in ${stopMs / 1000} s: killed; it recovers at its next start`);
      process.kill(pid, 'SIGKILL');
      while (isRunning(identity)) await sleep(POLL_MS);
      return;
    }
    await sleep(POLL_MS);
  }
}

export function isAnswering(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    // the server greets first: a socket that accepts but stays silent is not ready
    socket.setTimeout(1000, () => settle(false));
    socket.once('data', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
    function settle(up: boolean): void {
      socket.destroy();
      resolve(up);
    }
  });
}

export function writeServerRecord(home: string, { identity, socketPath }: RunningServer): void {
  writeText(startedFile(home), `${identity}\n${socketPath}\n`);
}

function startedFile(home: string): string {
  return path.join(home, 'server.started');
}

/** Returns the text of a file, or an empty string if it can't be read. */
export function readFileOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
