/** Values of command-line options. Each function throws ConfereError `wrong_use`, which names the option. */
import { existsSync, readFileSync } from 'node:fs';
import { buffer as readAll } from 'node:stream/consumers';
import { isDay } from '../domain/calendar.ts';
import { ConfereError } from '../domain/errors.ts';
import { noteInput } from './keyed-command.ts';

/** Parses `--limit`. */
export function parseLimit(text: string, max: number): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw new ConfereError('wrong_use', `--limit must be a whole number from 1 to ${max}`);
}

export function parseDay(option: string, text: string): string {
  if (isDay(text)) return text;
  throw new ConfereError('wrong_use', `${option} must be a day: YYYY-MM-DD`);
}

/** Parses an instant with an offset; undefined where the option is not given. */
export function parseInstant(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const at = /^[^T]*T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (!Number.isNaN(at.getTime())) return at;
  throw new ConfereError('wrong_use', `${option} is an instant: 2026-11-21T00:00:00-03:00`);
}

/** Reads a file, or standard input for `-`. Its content belongs to what a command with a key was asked for. */
export async function readBytes(file: string): Promise<Buffer> {
  const bytes = file === '-' ? await readAll(process.stdin) : readFile(file);
  noteInput(bytes);
  return bytes;
}

/** Reads a file as text, or standard input for `-`. */
export async function readInput(file: string): Promise<string> {
  return (await readBytes(file)).toString('utf8');
}

function readFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfereError('wrong_use', `can't read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/**
 * Reads a secret from a file, or from standard input for `-`. The secret itself in that place is refused: each user of the
 * machine can read the arguments of its processes.
 * @throws ConfereError `wrong_use`, without the value that was given.
 */
export async function readSecret(option: string, place: string): Promise<string> {
  if (place !== '-' && !existsSync(place))
    throw new ConfereError(
      'wrong_use',
      `${option} takes a file with it, or - for standard input: others on this machine can read a secret in a command line`,
    );
  const secret = (await readInput(place)).trim();
  if (secret === '') throw new ConfereError('wrong_use', `${option}: nothing stands there`);
  return secret;
}
