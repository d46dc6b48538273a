/** Runs the client programs of MariaDB or MySQL. They read address and password from a file that is private to the run. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { findBinary } from '../find-server.ts';
import type { ConnectionTarget } from '../open-database.ts';
import { childEnvironment } from './child-environment.ts';

const STDERR_CHARS_MAX = 2_000;

export type ClientProgram = { file: string; kind: 'mariadb' | 'mysql' };

/** Options of a client program, by the names of its options file. */
type ClientOptions = { user: string; [name: string]: string | number };

/** A program that runs. `ended` rejects if it exits with another code than 0, with the end of what it said. */
export type RunningProgram = { input: Writable; output: Readable; ended: Promise<void> };

/**
 * Finds a program by its names, the preferred one first.
 * @throws Error that names the Debian package.
 */
export function findProgram(names: string[], debianPackage: string): string {
  const file = names.map(findBinary).find((found) => found !== undefined);
  if (file !== undefined) return file;
  throw new Error(`${names.join(' or ')} was not found. Install it (Debian: apt-get install ${debianPackage})`);
}

/** Finds a client program, and says whose it is: their options differ. */
export function findClient(names: string[], debianPackage: string): ClientProgram {
  const file = findProgram(names, debianPackage);
  return { file, kind: /mariadb/i.test(readVersion(file)) ? 'mariadb' : 'mysql' };
}

/** Returns what a program prints of its version. */
export function readVersion(file: string): string {
  return readOutput(file, ['--version']);
}

/** Returns what a client program prints of its options. */
export function readHelp(file: string): string {
  return readOutput(file, ['--no-defaults', '--help']);
}

function readOutput(file: string, args: string[]): string {
  return execFileSync(file, args, {
    ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env: childEnvironment() },
  });
}

/** Starts a program. It is killed by the signal. */
export function startProgram(file: string, args: string[], signal: AbortSignal, directory?: string): RunningProgram {
  const child = spawn(file, args, {
    ...{ stdio: 'pipe', signal, killSignal: 'SIGKILL', cwd: directory, env: childEnvironment() },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-STDERR_CHARS_MAX);
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, killedBy) => {
      const how = code === null ? `was ended by ${killedBy}` : `failed with exit code ${code}`;
      if (code === 0) resolve();
      else reject(new Error(`${path.basename(file)} ${how}: ${withoutStatement(said) || 'it said nothing'}`));
    });
  });
  // awaited later, together with its streams
  ended.catch(() => undefined);
  // a program that ends early closes its input: `ended` says why
  child.stdin.on('error', () => undefined);
  return { input: child.stdin, output: child.stdout, ended };
}

/** The client quotes the statement that failed, with its values, before the error. */
function withoutStatement(said: string): string {
  const errors = said.split('\n').filter((line) => line.startsWith('ERROR '));
  return errors.length > 0 ? errors.join('\n') : said.trim();
}

/**
 * Waits for a program and for what reads or writes its streams.
 * @throws the error of a file first, such as that of a full disk: the program's follows from it; then the program's, from which
 *   that of its stream follows.
 */
export async function finishProgram({ ended }: RunningProgram, streaming: Promise<void>): Promise<void> {
  const [end, streamed] = await Promise.allSettled([ended, streaming]);
  if (streamed.status === 'rejected' && isOfFile(streamed.reason)) throw streamed.reason;
  for (const outcome of [end, streamed]) if (outcome.status === 'rejected') throw outcome.reason;
}

function isOfFile(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).path === 'string';
}

/** Writes the options file of a connection. Disposing removes it. */
export function writeClientOptions(
  target: ConnectionTarget,
  kind: ClientProgram['kind'],
): { file: string } & Disposable {
  const directory = mkdtempSync(path.join(tmpdir(), 'confere-client-'));
  const file = path.join(directory, 'client.cnf');
  const options: ClientOptions = { user: target.user, 'default-character-set': 'utf8mb4' };
  if (target.password !== undefined) options.password = target.password;
  if ('socketPath' in target) options.socket = target.socketPath;
  else Object.assign(options, { protocol: 'tcp', host: target.host, port: target.port });
  if (target.ssl) {
    const authorities = path.join(directory, 'ca.pem');
    // without a file of its own, the authorities that our own connections trust
    writeFileSync(authorities, target.ssl.ca ?? rootCertificates.join('\n'), { mode: 0o600 });
    options['ssl-ca'] = authorities;
    options[kind === 'mariadb' ? 'ssl-verify-server-cert' : 'ssl-mode'] = kind === 'mariadb' ? 1 : 'VERIFY_IDENTITY';
  } else options[kind === 'mariadb' ? 'ssl' : 'ssl-mode'] = kind === 'mariadb' ? 0 : 'DISABLED';
  const lines = Object.entries(options).map(([name, value]) => `${name}="${escapeValue(String(value))}"`);
  writeFileSync(file, `[client]\n${lines.join('\n')}\n`, { mode: 0o600 });
  return { file, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}
