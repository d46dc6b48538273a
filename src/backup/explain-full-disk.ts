import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { refuseSmallDisk } from '../../embedded/launch-server.ts';
import type { Config } from '../config.ts';
import { ConfereError } from '../domain/errors.ts';

/** As Node, the client programs, mariadb-backup and the server say it. */
const FULL = /ENOSPC|EDQUOT|No space left on device|Errcode: 28|error 28|The table '[^']*' is full/;

/** A server that finds no room ends without a word: with less than this, the disk is full. */
const FREE_MIB_MIN = 32;

/**
 * Refuses a disk that is surely too small for an embedded database.
 * @param bytes of the compressed database.
 * @throws ConfereError `unavailable`.
 */
export function refuseSmallPlace({ DATA_DIR, DATABASE_URL }: Config, bytes: number): void {
  if (DATABASE_URL) return;
  try {
    refuseSmallDisk(path.resolve(DATA_DIR), bytes);
  } catch (error) {
    throw new ConfereError('unavailable', (error as Error).message, { cause: error });
  }
}

/** Describes a restore that failed for want of room. Called before what it placed is removed. @returns any other error itself. */
export async function explainFullDisk(error: unknown, config: Config): Promise<unknown> {
  const said = error instanceof Error ? `${(error as NodeJS.ErrnoException).code} ${error.message}` : '';
  const home = path.resolve(config.DATA_DIR);
  const { bavail, blocks, bsize } = await statfs(home);
  const [freeMib = 0, allMib] = [bavail, blocks].map((count) => Math.floor((count * bsize) / 2 ** 20));
  const isFull = !(error instanceof ConfereError && error.code !== 'unavailable') && freeMib < FREE_MIB_MIN;
  if (!isFull && !FULL.test(said)) return error;
  const server = config.DATABASE_URL ? ', or that of the database server,' : '';
  return new ConfereError(
    'unavailable',
    `a disk is full: that of ${home} (${freeMib} of ${allMib} MiB free)${server} has no room for this backup. What was restored is removed: make room, and restore again`,
    { cause: error },
  );
}
