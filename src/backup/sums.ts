/** SHA256SUMS of a backup, in the format of sha256sum(1): `sha256sum -c SHA256SUMS` checks it without Confere. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { wrongUse } from '../domain/errors.ts';
import { describeFailure } from '../runtime/describe-failure.ts';

const NAME = 'SHA256SUMS';
const LINE = /^([0-9a-f]{64}) {2}([\w.-]+(?:\/[\w.-]+)*)$/;
const PROBLEMS_SHOWN_MAX = 5;

/** Writes the sums. @returns the SHA-256 of the sums themselves: kept elsewhere, it proves the whole backup. */
export async function writeSums(directory: string, files: StoredFile[]): Promise<string> {
  const lines = files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).sort();
  const text = lines.join('');
  await writeFile(path.join(directory, NAME), text, { flag: 'wx', mode: 0o600, flush: true });
  return sha256Of(text);
}

/** A file of the backup, with `/` in its name. `sha256` is of the bytes as they are stored. */
export type StoredFile = { name: string; bytes: number; sha256: string };

/** The SHA-256 of each file of a backup, by its name. */
export type Sums = ReadonlyMap<string, string>;

/** @throws ConfereError `wrong_use` if a file is not the one whose sum was verified: it changed since. */
export function refuseOtherSum(name: string, sum: string, sums: Sums): void {
  if (sums.get(name) !== sum) throw wrongUse(`the backup was changed while it was read: ${name} has another sum`);
}

/**
 * Verifies that a backup has exactly the files of its sums, each unchanged.
 * @param expected the SHA-256 of the sums, as `backup` printed it.
 * @returns the bytes of the files, and their sums, with which they are compared again when they are read.
 * @throws ConfereError `wrong_use` that names the first differences.
 */
export async function verifySums(
  directory: string,
  expected: string | undefined,
): Promise<{ bytes: number; sums: Sums }> {
  const text = await readFile(path.join(directory, NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw wrongUse(`--from: ${describeFailure(error)}`);
    throw wrongUse(`${directory} is no finished backup: it has no ${NAME}`);
  });
  if (expected !== undefined && sha256Of(text) !== expected.toLowerCase())
    throw wrongUse(`the backup is not the one of --sum: ${NAME} has the SHA-256 ${sha256Of(text)}`);
  const sums = new Map(text.trimEnd().split('\n').map(parseLine));
  const found = new Set(await listFiles(directory));
  let bytes = 0;
  const problems = [...found].filter((name) => !sums.has(name)).map((name) => `${name} is not in ${NAME}`);
  for (const [name, sum] of sums) {
    if (!found.has(name)) {
      problems.push(`${name} is missing`);
      continue;
    }
    const file = path.join(directory, name);
    if ((await hashFile(file)) !== sum) problems.push(`${name} has changed`);
    bytes += (await stat(file)).size;
  }
  if (problems.length === 0) return { bytes, sums };
  const more = problems.length > PROBLEMS_SHOWN_MAX ? `; ${problems.length} differences in all` : '';
  throw wrongUse(
    `the backup is broken or was changed; nothing was restored: ${problems.slice(0, PROBLEMS_SHOWN_MAX).join('; ')}${more}`,
  );
}

function parseLine(line: string): [name: string, sum: string] {
  const [, sum = '', name = ''] = LINE.exec(line) ?? [];
  // a name such as ../x must not lead out of the backup
  if (name === '' || name.split('/').includes('..'))
    throw wrongUse(`the backup is broken or was changed: ${NAME} has a line that is no sum`);
  return [name, sum];
}

async function listFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .filter((name) => name !== NAME);
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Returns the SHA-256 in hex. */
export function sha256Of(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}
