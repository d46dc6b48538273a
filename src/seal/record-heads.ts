/**
 * Records the newest hash of the chain outside of the database: in the log, and in a file below DATA_DIR. `confere doctor
 * --books` compares the file with the chain, and so detects a chain whose newest positions were cut off.
 */
import { appendFile, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { describeError } from '../log.ts';
import type { Seal } from './read-seals.ts';

/** One file a day (UTC) with at most one line a minute and process; nightly manifests cover older days. */
export const HEAD_LIMITS = { everyMs: 60_000, files: 8 } as const;
const FILE_NAME = /^heads-\d{4}-\d{2}-\d{2}\.jsonl$/;

export function headsDirectory(config: Pick<Config, 'DATA_DIR'>): string {
  return path.resolve(config.DATA_DIR, 'manifests');
}

/** Lists the files of recorded heads in this machine's DATA_DIR, oldest first. */
export async function listHeadFiles(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => FILE_NAME.test(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Returns a function that records the newest seal if it changed, at most once a minute. A failure is logged and does not
 * stop the sealer; the next minute tries again.
 */
export function createHeadRecorder({ config, clock, log }: Context): (head: Seal | undefined) => Promise<void> {
  let recorded: string | undefined;
  let triedAt = 0;
  return async (head) => {
    const now = clock.now();
    const hash = head?.hash.toString('hex');
    if (!head || hash === recorded || now.getTime() - triedAt < HEAD_LIMITS.everyMs) return;
    triedAt = now.getTime();
    try {
      await append(headsDirectory(config), { position: head.position, hash, at: now });
      recorded = hash;
      log.info({ seal: { position: head.position, hash } }, 'the chain is sealed up to here');
    } catch (error) {
      log.warn({ error: describeError(error) }, 'could not record the newest hash of the chain under DATA_DIR');
    }
  };
}

async function append(directory: string, line: { position: number; hash: string | undefined; at: Date }) {
  await mkdir(directory, { recursive: true });
  const name = `heads-${line.at.toISOString().slice(0, 10)}.jsonl`;
  // the line feed comes first: a line that a crash cut short does not damage the next one
  await appendFile(path.join(directory, name), `\n${JSON.stringify(line)}`, { flush: true });
  const names = await listHeadFiles(directory);
  for (const old of names.slice(0, -HEAD_LIMITS.files)) await rm(path.join(directory, old), { force: true });
}
