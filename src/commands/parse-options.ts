/** Values of command-line options. Each function throws ConfereError `wrong_use`, which names the option. */
import { isDay } from '../domain/calendar.ts';
import { wrongUse } from '../domain/errors.ts';
import { describe } from '../texts/refuse.ts';
import { readPlace, readSecretIn } from './developer/read-place.ts';
import { noteInput } from './keyed-command.ts';

/** Parses `--limit`. */
export function parseLimit(text: string, max: number): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw wrongUse(`--limit ${describe('limit_wrong', { n: max })}`);
}

export function parseDay(option: string, text: string): string {
  if (isDay(text)) return text;
  throw wrongUse(`${option} ${describe('day_wrong', {})}`);
}

/** Reads a file, or standard input for `-`. Its content belongs to what a command with a key was asked for. */
export async function readBytes(file: string): Promise<Buffer> {
  const bytes = await readPlace(file);
  noteInput(bytes);
  return bytes;
}

/** Reads a file as text, or standard input for `-`. */
export async function readInput(file: string): Promise<string> {
  return (await readBytes(file)).toString('utf8');
}

/** Reads a secret, as `readSecretIn`; it belongs to what a command with a key was asked for. */
export async function readSecret(option: string, place: string): Promise<string> {
  const secret = await readSecretIn(option, place);
  noteInput(Buffer.from(secret));
  return secret;
}
