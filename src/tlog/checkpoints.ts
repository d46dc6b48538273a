/**
 * The log's checkpoints: signed, one a minute at most, while there is something new. Each is a row, and each process writes the
 * newest one to its log and to a file below DATA_DIR: `confere doctor --books` compares these files with the log, and so detects
 * one whose newest leaves were cut off.
 */
import { appendFile, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { ignoreDuplicate } from '../database/transact.ts';
import { describeError } from '../log.ts';
import { readPublicKeys, readSigningKeys } from './keys.ts';
import { formatCheckpoint, signNote, type Verifier, verifierOf } from './note.ts';
import { type Origin, readOrigin } from './origins.ts';
import { readRoot, readSize } from './tree.ts';

/** One file a day (UTC). */
export const CHECKPOINT_LIMITS = { everyMs: 60_000, files: 8 } as const;
const FILE_NAME = /^checkpoints-\d{4}-\d{2}-\d{2}\.jsonl$/;

/** A stored checkpoint. `note`: signed by the log alone. */
export type StoredCheckpoint = { seq: number; size: number; root: Buffer; note: string; made_at: Date };
/** Returns the newest checkpoint of an origin. */
export async function readNewestCheckpoint(db: Reader, origin: Origin): Promise<StoredCheckpoint | undefined> {
  return await db
    .selectFrom('log_checkpoints')
    .select(['seq', 'size', 'root', 'note', 'made_at'])
    .where('origin_seq', '=', origin.seq)
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** All keys that signed, or sign, for an origin. */
export async function readVerifiers(db: Reader, origin: string): Promise<Verifier[]> {
  return (await readPublicKeys(db)).map((publicKey) => verifierOf(origin, publicKey));
}

/** Makes a checkpoint if the log has grown. @returns the newest one; undefined while the log is empty. */
export async function makeCheckpoint(context: Context): Promise<StoredCheckpoint | undefined> {
  const { db, clock } = context;
  const size = await readSize(db);
  if (size === 0) return undefined;
  const origin = await readOrigin(context);
  const newest = await readNewestCheckpoint(db, origin);
  if (newest && newest.size >= size) return newest;
  const root = await readRoot(db, size);
  const text = formatCheckpoint({ origin: origin.origin, size, root });
  const keys = await readSigningKeys(context);
  const signers = keys.map(({ publicKey, privateKey }) => ({ ...verifierOf(origin.origin, publicKey), privateKey }));
  const row = { origin_seq: origin.seq, size, root, note: signNote(text, signers), made_at: clock.now() };
  // another process may have made it
  await db.insertInto('log_checkpoints').values(row).execute().catch(ignoreDuplicate);
  return await readNewestCheckpoint(db, origin);
}

/** Returns the directory of this machine's checkpoints. */
export function checkpointsDirectory(config: Pick<Config, 'DATA_DIR'>): string {
  return path.resolve(config.DATA_DIR, 'manifests');
}

/**
 * Returns a function that makes and records the newest checkpoint, at most once a minute. A failure is logged and does not stop the
 * sealer; the next minute tries again.
 */
export function createCheckpointer(context: Context): () => Promise<void> {
  const { config, clock, log } = context;
  let recorded: number | undefined;
  let triedAt = 0;
  return async () => {
    const at = clock.now();
    if (at.getTime() - triedAt < CHECKPOINT_LIMITS.everyMs) return;
    triedAt = at.getTime();
    try {
      const newest = await makeCheckpoint(context);
      if (!newest || newest.seq === recorded) return;
      await append(checkpointsDirectory(config), { at, checkpoint: newest.note });
      recorded = newest.seq;
      log.info({ checkpoint: { size: newest.size, root: newest.root.toString('base64') } }, 'the log has a checkpoint');
    } catch (error) {
      log.warn({ error: describeError(error) }, 'could not make or record a checkpoint of the log');
    }
  };
}

async function append(directory: string, line: { at: Date; checkpoint: string }) {
  await mkdir(directory, { recursive: true });
  const name = `checkpoints-${line.at.toISOString().slice(0, 10)}.jsonl`;
  // the line feed comes first: a line that a crash cut short does not damage the next one
  await appendFile(path.join(directory, name), `\n${JSON.stringify(line)}`, { flush: true });
  const names = (await readdir(directory)).filter((one) => FILE_NAME.test(one)).sort();
  for (const old of names.slice(0, -CHECKPOINT_LIMITS.files)) await rm(path.join(directory, old), { force: true });
}
