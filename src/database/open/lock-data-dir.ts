import path from 'node:path';
import { acquireLock } from '../../../embedded/register-process.ts';
import { wrongUse } from '../../domain/errors.ts';
import { makeDataDir } from './make-data-dir.ts';

export const DATA_DIR_LOCK = 'serve.lock';

/**
 * Takes DATA_DIR for this process: one `serve` per embedded database, since a second one would answer in place of the first;
 * and no restore beside it.
 * @returns a function that lets it go.
 * @throws ConfereError `wrong_use` if another process has it.
 */
export function lockDataDir(dataDir: string): () => void {
  const directory = path.resolve(dataDir);
  makeDataDir(directory);
  const unlock = acquireLock(path.join(directory, DATA_DIR_LOCK));
  if (unlock) return unlock;
  throw wrongUse(`another serve or restore runs on ${directory}: stop it, or set another DATA_DIR`);
}
