/**
 * The secret key of an embedded database, in a file of DATA_DIR. While it is being rotated the next one lies beside it,
 * under its own id: whichever the database was encrypted with is the key, wherever a rotation was killed.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { createVault } from './vault.ts';

const NAME = 'secret.key';
const NEXT = `${NAME}.next.`;

/** Made on the first start: written whole under another name, then linked, so that two processes end with one key. */
export function readOrCreateSecretKey(dataDir: string): Buffer {
  const file = path.join(dataDir, NAME);
  mkdirSync(dataDir, { recursive: true });
  const draft = `${file}.${process.pid}`;
  try {
    return readKey(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readKey(file);
}

/** Lays the next key down, on the disk, before anything is encrypted with it. @returns its file. */
export function writeNextKey(dataDir: string, key: Buffer): string {
  const file = path.join(dataDir, `${NEXT}${createVault(key).keyId}`);
  writeFileSync(file, `${key.toString('base64')}\n`, { mode: 0o600, flush: true });
  flushDirectory(dataDir);
  return file;
}

/** Makes the next key the key, once the database is encrypted with it. */
export function adoptNextKey(dataDir: string, file: string): void {
  renameSync(file, path.join(dataDir, NAME));
  flushDirectory(dataDir);
}

/** The next key that a rotation laid down and did not come to adopt, if the database is encrypted with it. */
export function findNextKey(dataDir: string, check: Buffer): { key: Buffer; file: string } | undefined {
  return readdirSync(dataDir)
    .filter((name) => name.startsWith(NEXT))
    .map((name) => path.join(dataDir, name))
    .map((file) => ({ file, key: readKey(file) }))
    .find(({ key }) => key.length === 32 && createVault(key).check.equals(check));
}

function readKey(file: string): Buffer {
  return Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
}

function flushDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
