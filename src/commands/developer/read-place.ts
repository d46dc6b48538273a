/** Values of options of the commands for developers, which import nothing else of the service. */
import { existsSync, readFileSync } from 'node:fs';
import { buffer as readAll } from 'node:stream/consumers';
import { wrongUse } from '../../domain/errors.ts';

/** Parses an instant with an offset; undefined where the option is not given. */
export function parseInstant(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const at = /^[^T]*T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (!Number.isNaN(at.getTime())) return at;
  throw wrongUse(`${option} is an instant: 2026-11-21T00:00:00-03:00`);
}

/** Reads a file, or standard input for `-`. @throws ConfereError `wrong_use`. */
export async function readPlace(file: string): Promise<Buffer> {
  return file === '-' ? await readAll(process.stdin) : readFile(file);
}

function readFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw wrongUse(`can't read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/**
 * Reads a secret from a file, or from standard input for `-`. The secret itself in that place is refused: each user of the
 * machine can read the arguments of its processes.
 * @throws ConfereError `wrong_use`, without the value that was given.
 */
export async function readSecretIn(option: string, place: string): Promise<string> {
  if (place !== '-' && !existsSync(place))
    throw wrongUse(
      `${option} takes a file with it, or - for standard input: others on this machine can read a secret in a command line`,
    );
  const secret = (await readPlace(place)).toString('utf8').trim();
  if (secret === '') throw wrongUse(`${option}: nothing stands there`);
  return secret;
}
