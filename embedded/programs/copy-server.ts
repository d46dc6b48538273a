/**
 * The files of an embedded server, copied while it runs, with mariadb-backup: faster than a dump of a large database, and
 * restored without executing statements. Only a server of the same series can use them.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { findBinary, findServer } from '../find-server.ts';
import { findProgram, finishProgram, readVersion, startProgram } from './run-client.ts';

const PACKAGE = 'mariadb-backup';

/** Whether this machine has mariadb-backup. */
export function canCopyServer(): boolean {
  return findBinary('mariadb-backup') !== undefined && findBinary('mbstream') !== undefined;
}

/** The version of this machine's database server, as `mariadbd --version` prints it. */
export function readServerVersion(): string {
  return readVersion(findServer().server);
}

/** `10.11` of a version such as `10.11.18-MariaDB-0+deb12u1`; empty if it is not MariaDB. */
export function seriesOf(version: string): string {
  return /(\d+\.\d+)\.\d+-MariaDB/.exec(version)?.[1] ?? '';
}

/** Copies the files of the embedded server of `dataDir` into `write`, which consumes the stream (mbstream). */
export async function copyServer(
  { dataDir, socketPath }: { dataDir: string; socketPath: string },
  write: (stream: Readable) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const file = findProgram(['mariadb-backup'], PACKAGE);
  const scratch = mkdtempSync(path.join(tmpdir(), 'confere-copy-'));
  try {
    const args = ['--no-defaults', '--backup', '--stream=mbstream', `--target-dir=${scratch}`, '--user=root'];
    const data = path.join(path.resolve(dataDir), 'mariadb', 'data');
    const copy = startProgram(file, [...args, `--socket=${socketPath}`, `--datadir=${data}`], signal);
    copy.input.end();
    await finishProgram(copy, write(copy.output));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Unpacks and recovers such a stream, and makes it the data of the embedded server of `dataDir`, which must have none. */
export async function placeServerCopy(
  dataDir: string,
  stream: (into: NodeJS.WritableStream) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const home = path.join(path.resolve(dataDir), 'mariadb');
  // a start removes a draft of this name: an interrupted copy leaves nothing that could be used
  const draft = path.join(home, 'data.new');
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  const unpack = startProgram(findProgram(['mbstream'], PACKAGE), ['-x', '-C', draft], signal);
  unpack.output.resume();
  await finishProgram(unpack, stream(unpack.input));
  const file = findProgram(['mariadb-backup'], PACKAGE);
  const recover = startProgram(file, ['--no-defaults', '--prepare', `--target-dir=${draft}`], signal);
  recover.input.end();
  recover.output.resume();
  await recover.ended;
  renameSync(draft, path.join(home, 'data'));
}
