/** Checkpoints in files: those of each minute in DATA_DIR, and one of each night in DATA_DIR/shared, where machines share one. */
import { lstatSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { addDays } from '../domain/calendar.ts';
import { parseJson } from '../domain/person/tokenize-json.ts';
import { checkpointsDirectory } from './checkpoints.ts';
import { readPublished } from './prove.ts';

const NAME = /^(?:checkpoints-\d{4}-\d{2}-\d{2}\.jsonl|\d{4}-\d{2}-\d{2}\.checkpoint)$/;
const LINE = z.object({ checkpoint: z.string() });
type Places = Pick<Config, 'DATA_DIR'>;

/** Finds the directory that several machines share, also where it is a link to nothing: writing to it fails then. */
export function findShared({ DATA_DIR }: Places): string | undefined {
  const shared = path.resolve(DATA_DIR, 'shared');
  return lstatSync(shared, { throwIfNoEntry: false }) && shared;
}

/** Returns the directories in which checkpoints are read: the nightly ones first. */
export function recordedDirectories(config: Places): string[] {
  const shared = findShared(config);
  return [...(shared ? [path.join(shared, 'manifests')] : []), checkpointsDirectory(config)];
}

/** Lists the files with checkpoints, each oldest first. */
export async function listRecorded(config: Places, directory?: string): Promise<string[]> {
  const directories = directory === undefined ? recordedDirectories(config) : [directory];
  const listed = directories.map(async (one) => {
    const names = await readdir(one).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names
      .filter((name) => NAME.test(name))
      .sort()
      .map((name) => path.join(one, name));
  });
  return (await Promise.all(listed)).flat();
}

/** Reads all notes of the files. A line that a crash cut short is left out. */
export async function readRecorded(config: Places, directory?: string): Promise<{ file: string; notes: string[] }[]> {
  const files = await listRecorded(config, directory);
  return await Promise.all(
    files.map(async (file) => {
      const text = await readFile(file, 'utf8');
      const notes = file.endsWith('.jsonl')
        ? text.split('\n').flatMap((line) => LINE.safeParse(parseJson(line)).data?.checkpoint ?? [])
        : [text];
      return { file: path.basename(file), notes };
    }),
  );
}

/**
 * Writes the published checkpoint, with its cosignatures, to `<day>.checkpoint` each night. A copy elsewhere proves the history up
 * to it later, even if this machine is lost or somebody owns it.
 * @returns the file; undefined while there is no checkpoint.
 */
export async function writeNightly(context: Context): Promise<string | undefined> {
  const { calendar, clock, config, log, signal } = context;
  signal.throwIfAborted();
  const published = await readPublished(context);
  if (!published) return undefined;
  const [directory = ''] = recordedDirectories(config);
  const file = path.join(directory, `${addDays(calendar.dayOf(clock.now()), -1)}.checkpoint`);
  await mkdir(directory, { recursive: true });
  await writeFile(`${file}.draft`, published.note, { flush: true });
  await rename(`${file}.draft`, file);
  log.info({ checkpoint: { file: path.basename(file), size: published.size } }, 'the log is recorded up to here');
  return file;
}
