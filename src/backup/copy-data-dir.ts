/** The files of DATA_DIR in a backup. Reports are not among them: they are made again from the ledger. */

import { createReadStream } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { readText } from '../../embedded/files/read-text.ts';
import { listArchivedAudit } from '../access/bring-back-audit.ts';
import { archiveDirectory } from '../archive/archive-files.ts';
import type { Config } from '../config.ts';
import type { Reader } from '../database/reader.ts';
import { ConfereError } from '../domain/errors.ts';
import { append } from '../domain/lists.ts';
import { listSpoolFiles, RETAINED_KINDS } from '../inbox/spool/count-retained-files.ts';
import { spoolDirectory } from '../inbox/spool/redact-retained-files.ts';
import { listRecorded } from '../tlog/recorded.ts';
import type { StoreFile } from './stored-files.ts';

/** In DATA_DIR itself: keys, also the next one of a rotation that was interrupted, and the admin's token. */
const KEYS = /^secret\.key(?:\.next\.[0-9a-f]+)?$/;
const PLAIN = /^(?:admin-token|portal-logo\.(?:png|jpg|webp))$/;
export const SPOOL_FILES = new RegExp(`\\.(?:spool|${RETAINED_KINDS.join('|')})$`);
/** A segment is renamed when it is claimed, and one listing may miss it under both names. */
const LISTINGS_MIN = 2;

export const DATA = 'data';
export const SPOOL = `${DATA}/spool`;
export const ARCHIVE = `${DATA}/archive`;

export type CopiedKey = { name: string; key: Buffer };

/**
 * Copies the spool. A webhook that was answered before the call is in the copy, or was committed before its segment
 * disappeared: so a snapshot of the database that is taken afterwards has it.
 * @returns the names of the copies.
 */
export async function copySpool(config: Config, store: StoreFile): Promise<string[]> {
  const directory = spoolDirectory(config);
  const copied = new Set<string>();
  for (let listings = 0, news = true; news || listings < LISTINGS_MIN; listings++) {
    news = false;
    for (const name of listSpoolFiles(directory, SPOOL_FILES)) {
      if (copied.has(name) || !(await copyFile(path.join(directory, name), `${SPOOL}/${name}`, store))) continue;
      copied.add(name);
      news = true;
    }
  }
  return [...copied].map((name) => `${SPOOL}/${name}`);
}

/** Copies keys, the admin's token, the portal's logo and checkpoints. @returns the names of the copies, and the keys. */
export async function copyKeysAndManifests(
  config: Config,
  store: StoreFile,
): Promise<{ names: string[]; keys: CopiedKey[] }> {
  const home = path.resolve(config.DATA_DIR);
  const keys: CopiedKey[] = [];
  const names: string[] = [];
  for (const name of await list(home, KEYS)) {
    const content = readText(path.join(home, name));
    await store(`${DATA}/${name}`, Readable.from([Buffer.from(content)]));
    names.push(`${DATA}/${name}`);
    keys.push({ name: `${DATA}/${name}`, key: Buffer.from(content.trim(), 'base64') });
  }
  const others = (await list(home, PLAIN)).map((name) => ({ file: path.join(home, name), name: `${DATA}/${name}` }));
  for (const file of await listRecorded(config))
    others.push({ file, name: `${DATA}/manifests/${path.basename(file)}` });
  // a night's checkpoint in both directories: the first one is the newest
  for (const { file, name } of others)
    if (!names.includes(name) && (await copyFile(file, name, store))) names.push(name);
  return { names, keys };
}

/**
 * Copies the files that an earlier version moved bodies and the audit into, as long as they are left.
 * @param db of the same tables as `tables`, which may be those of an earlier version.
 * @returns the names of the copies.
 * @throws ConfereError `unavailable` if one is not there.
 */
export async function copyArchives(
  config: Config,
  { db, tables }: { db: Reader; tables: string[] },
  store: StoreFile,
): Promise<string[]> {
  const directory = archiveDirectory(config);
  const archives: { file: string }[] = [];
  // 0.1.0 has neither table
  if (tables.includes('body_archives'))
    append(archives, await db.selectFrom('body_archives').select('file').orderBy('file').execute());
  if (tables.includes('audit_archives')) append(archives, await listArchivedAudit(db));
  const names: string[] = [];
  for (const { file } of archives) {
    const name = `${ARCHIVE}/${file}`;
    if (!(await copyFile(path.join(directory, file), name, store)))
      throw new ConfereError(
        'unavailable',
        `the archive ${file} is not in ${directory}: a backup without it would not be whole`,
      );
    names.push(name);
  }
  return names;
}

/** @returns whether the file was still there. */
async function copyFile(file: string, name: string, store: StoreFile): Promise<boolean> {
  const handle = await open(file, 'r').catch(ignoreMissing);
  if (!handle) return false;
  await store(name, createReadStream('', { fd: handle }));
  return true;
}

async function list(directory: string, pattern: RegExp): Promise<string[]> {
  return ((await readdir(directory).catch(ignoreMissing)) ?? []).filter((name) => pattern.test(name)).sort();
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
