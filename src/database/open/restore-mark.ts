/**
 * The mark of a restore: a file in DATA_DIR. The restore writes it, durably, before it places anything else, and removes it when
 * everything is placed. While it is there, nothing but a restore opens DATA_DIR: what is in it is not whole.
 */
import path from 'node:path';
import { z } from 'zod';
import { readText } from '../../../embedded/files/read-text.ts';
import { ConfereError } from '../../domain/errors.ts';

const NAME = 'restore.unfinished';

const content = z.object({
  /** The id in the database's own mark. */
  id: z.string(),
  /** Everything that it places beside the embedded database: absolute paths, also outside of DATA_DIR. */
  files: z.array(z.string()),
});
export type RestoreMark = z.infer<typeof content>;

export function restoreMarkFile(dataDir: string): string {
  return path.join(path.resolve(dataDir), NAME);
}

/** @returns the mark of a restore that runs or was interrupted; one that a crash cut short names no files: none was placed. */
export function findRestoreMark(dataDir: string): RestoreMark | undefined {
  const text = readUnlessMissing(restoreMarkFile(dataDir));
  if (text === undefined) return undefined;
  try {
    return content.parse(JSON.parse(text));
  } catch {
    return { id: '', files: [] };
  }
}

/** @throws ConfereError while a restore into DATA_DIR has not finished. */
export function refuseRestoreMark(dataDir: string): void {
  if (readUnlessMissing(restoreMarkFile(dataDir)) === undefined) return;
  throw new ConfereError(
    'config_invalid',
    `${path.resolve(dataDir)} is not whole: a restore into it runs, or was interrupted. Let it finish, or run confere restore again: it removes what is there and begins anew`,
  );
}

function readUnlessMissing(file: string): string | undefined {
  try {
    return readText(file);
  } catch (error) {
    // a DATA_DIR that is a file is refused where it is used
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
