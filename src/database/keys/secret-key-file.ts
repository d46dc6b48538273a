/**
 * The secret key of an embedded database, in a file in DATA_DIR. During a rotation the next key is in a second file, named
 * by its id. After a crash, the key that the database is encrypted with is the valid one.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describeSystemError } from '../../../embedded/files/describe-system-error.ts';
import { readText } from '../../../embedded/files/read-text.ts';
import { writeText } from '../../../embedded/files/write-text.ts';
import { createVault } from './vault.ts';
import { WrongKeyError } from './wrong-key-error.ts';

const NAME = 'secret.key';
const NEXT = `${NAME}.next.`;

/** The absolute path of the key's file. */
export function secretKeyFile(dataDir: string): string {
  return path.resolve(dataDir, NAME);
}

/** Creates the key in DATA_DIR, which exists, on the first start: writes a draft, then links it, so that two processes end with one key. */
export function readOrCreateSecretKey(dataDir: string): Buffer {
  const file = secretKeyFile(dataDir);
  const draft = `${file}.${process.pid}`;
  const known = readSecretKey(dataDir);
  if (known) return known;
  writeText(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readKey(file);
}

/** @returns undefined before the first start. @throws WrongKeyError if the file cannot be read. */
export function readSecretKey(dataDir: string): Buffer | undefined {
  try {
    return readKey(secretKeyFile(dataDir));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new WrongKeyError(describeSystemError(error) ?? (error as Error).message, { cause: error });
  }
}

/** Writes the next key to the disk, before anything is encrypted with it. @returns its file. */
export function writeNextKey(dataDir: string, key: Buffer): string {
  const file = path.join(dataDir, `${NEXT}${createVault(key).keyId}`);
  writeText(file, `${key.toString('base64')}\n`, { mode: 0o600, flush: true });
  flushDirectory(dataDir);
  return file;
}

/** Makes the next key the current one, once the database is encrypted with it. */
export function adoptNextKey(dataDir: string, file: string): void {
  renameSync(file, path.join(dataDir, NAME));
  flushDirectory(dataDir);
}

/** Finds the next key of an interrupted rotation, if the database is encrypted with it. */
export function findNextKey(dataDir: string, check: Buffer): { key: Buffer; file: string } | undefined {
  return readdirSync(dataDir)
    .filter((name) => name.startsWith(NEXT))
    .map((name) => path.join(dataDir, name))
    .map((file) => ({ file, key: readKey(file) }))
    .find(({ key }) => key.length === 32 && createVault(key).check.equals(check));
}

function readKey(file: string): Buffer {
  return Buffer.from(readText(file).trim(), 'base64');
}

function flushDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
