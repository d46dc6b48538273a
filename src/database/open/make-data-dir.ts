import path from 'node:path';
import { describeSystemError } from '../../../embedded/files/describe-system-error.ts';
import { makeDirectory } from '../../../embedded/files/make-directory.ts';
import { ConfereError } from '../../domain/errors.ts';

/** Makes DATA_DIR where it is missing. @throws ConfereError `config_invalid` that names it, if that is not possible. */
export function makeDataDir(dataDir: string): void {
  try {
    makeDirectory(path.resolve(dataDir));
  } catch (error) {
    throw new ConfereError('config_invalid', `DATA_DIR: ${describeSystemError(error)}`, { cause: error });
  }
}
