import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { findServer } from '../../embedded/find-server.ts';
import { withLock } from '../../embedded/register-process.ts';
import { testServer } from './create-test-database.ts';
import { initialise } from './start-test-server.ts';

/**
 * Copies the embedded server's system tables into a data directory. Its first start takes seconds to make them, so a run
 * makes them once, beside its own server. The server that uses them is as durable as any other.
 */
export async function copyEmbeddedData(dataDir: string): Promise<void> {
  const home = path.join(path.dirname(testServer().socketPath), 'embedded');
  const template = path.join(home, 'data');
  mkdirSync(home, { recursive: true });
  await withLock(home, async () => {
    if (existsSync(template)) return;
    initialise(findServer(), path.join(home, 'whole'));
    await copy(path.join(home, 'whole'), path.join(home, 'draft'));
    renameSync(path.join(home, 'draft'), template);
  });
  const directory = path.join(dataDir, 'mariadb');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  await copy(template, path.join(directory, 'data'));
}

/** Sparse: most of the log is empty blocks. */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', '--sparse=always', from, to]);
}
