import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { findServer } from '../../embedded/find-server.ts';
import { withLock } from '../../embedded/register-process.ts';
import { testServer } from './create-test-database.ts';
import { initialise } from './start-test-server.ts';

/**
 * Gives a data directory the embedded server's system tables, as its first start makes them: that takes seconds, so the
 * run makes them once, beside its own server, and copies them. The server is durable as ever.
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

/** Without the empty blocks of the log, which are most of it. */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', '--sparse=always', from, to]);
}
