/**
 * The place of a restore: DATA_DIR, with the spool and the archive. It is taken by a lock, which keeps `serve` and another restore
 * out, and by the mark (`restore-mark.ts`), which keeps everything else out, also after a crash. A restore that finds the mark
 * of an interrupted one removes what that one placed, and begins anew.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { stopAbandonedServer } from '../../embedded/join-server.ts';
import type { Config } from '../config.ts';
import { lockDataDir } from '../database/open/lock-data-dir.ts';
import { makeDataDir } from '../database/open/make-data-dir.ts';
import { findRestoreMark, type RestoreMark, restoreMarkFile } from '../database/open/restore-mark.ts';
import { wrongUse } from '../domain/errors.ts';
import type { Log } from '../log.ts';
import type { BackupDescription } from './describe-backup.ts';
import { refuseSmallPlace } from './explain-full-disk.ts';
import { flushDirectory, flushTree } from './flush.ts';
import { type PlacedFile, planFiles, refuseUsedPlace } from './place-data-dir.ts';

/** rm -r competes with a program that a killed restore left behind. */
const REMOVE = { recursive: true, force: true, maxRetries: 5, retryDelay: 100 };

export type Place = {
  /** Names this restore, also where it goes on after an interruption. */
  id: string;
  files: PlacedFile[];
  /** Flushes everything that was placed, and removes the mark. */
  finish(): Promise<void>;
  /** Removes everything that was placed, and then the mark. Does nothing after `keep`. */
  discard(): Promise<void>;
  /** Leaves the mark: the database still has tables of this restore. */
  keep(): void;
  /** Lets others in, as far as the mark does. */
  [Symbol.dispose](): void;
};

/**
 * Takes the place. Nothing is written where it cannot be used.
 * @param bytes of the compressed database, for which there must be room.
 * @throws ConfereError `wrong_use` if it is in use or not empty; `unavailable` if the disk is too small.
 */
export async function takePlace(
  config: Config,
  description: BackupDescription,
  { bytes, log }: { bytes: number; log: Log },
): Promise<Place> {
  const home = path.resolve(config.DATA_DIR);
  const files = planFiles(config, description);
  const left = findRestoreMark(home);
  if (!left) await refuseUsedPlace(config, description);
  const isNew = !existsSync(home);
  makeDataDir(home);
  const unlock = lockDataDir(home);
  const leave = async (): Promise<void> => {
    unlock();
    // a file of others keeps it
    if (isNew) await rmdir(home).catch(() => undefined);
  };
  try {
    await removePlaced(home, left, log);
    if (left) {
      log.warn(`removed what an interrupted restore had placed in ${home}; beginning anew`);
      await refuseUsedPlace(config, description);
    }
    refuseSmallPlace(config, bytes);
    const mark = { id: left?.id || randomBytes(16).toString('hex'), files: files.map(({ file }) => file) };
    await writeMark(home, mark);
    if (isNew) await flushDirectory(path.dirname(home));
    let isKept = false;
    return {
      ...{ id: mark.id, files },
      keep() {
        isKept = true;
      },
      async finish() {
        await flushTree(home);
        await removeMark(home);
      },
      async discard() {
        if (isKept) return;
        await removePlaced(home, mark, log);
        await removeMark(home);
        await leave();
      },
      [Symbol.dispose]: unlock,
    };
  } catch (error) {
    await leave();
    throw error;
  }
}

/** Removes the embedded database, also one that a start did not finish, and the files of the mark. */
async function removePlaced(home: string, mark: RestoreMark | undefined, log: Log): Promise<void> {
  if (!(await stopAbandonedServer({ dataDir: home, log: (message) => log.info(message) })))
    throw wrongUse(`another process uses the embedded database of ${home}: stop it first`);
  await rm(path.join(home, 'mariadb'), REMOVE);
  for (const file of mark?.files ?? []) {
    await rm(file, { force: true });
    // a folder that is not empty stays
    for (let folder = path.dirname(file); folder.startsWith(`${home}${path.sep}`); folder = path.dirname(folder))
      await rmdir(folder).catch(() => undefined);
  }
}

async function writeMark(home: string, mark: RestoreMark): Promise<void> {
  const text = JSON.stringify({ says: 'confere restore has not finished here: run it again', ...mark }, null, 2);
  await using handle = await open(restoreMarkFile(home), 'w', 0o600);
  await handle.writeFile(`${text}\n`);
  await handle.sync();
  await flushDirectory(home);
}

async function removeMark(home: string): Promise<void> {
  await rm(restoreMarkFile(home), { force: true });
  await flushDirectory(home);
}
