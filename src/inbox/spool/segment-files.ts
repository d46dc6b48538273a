/** Segments as files of the spool's directory. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type FileHandle, open, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { listSpoolFiles } from './count-retained-files.ts';
import { decodeSegment, type Segment } from './spool-format.ts';

/** The segment that this process writes to. */
export type OpenSegment = { name: string; file: FileHandle; inode: bigint; bytes: number };

/** Flushes the directory: a created or renamed file survives a crash only after that. */
export async function syncNames(directory: string): Promise<void> {
  const folder = await open(directory, 'r');
  await folder.sync();
  await folder.close();
}

/** Removes the partial data of a failed write: it must neither precede later records nor fill the disk. */
export async function dropTail(directory: string, segment: OpenSegment): Promise<void> {
  try {
    if (segment.bytes === 0) await unlink(path.join(directory, segment.name));
    else await segment.file.truncate(segment.bytes);
  } finally {
    await segment.file.close();
  }
}

export async function isInPlace(directory: string, segment: OpenSegment): Promise<boolean> {
  const found = await stat(path.join(directory, segment.name), { bigint: true }).catch(ignoreMissing);
  return found?.ino === segment.inode;
}

/** Names sort by the start of the segment; the owner in the name shows whether a process still writes to it. */
export function nameSegment(begunAt: string, owner: string): string {
  return `${begunAt}.${owner}.${randomBytes(4).toString('hex')}.spool`;
}

export function readOrNone(file: string): Segment | undefined {
  try {
    return decodeSegment(readFileSync(file));
  } catch (error) {
    return ignoreMissing(error);
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

export function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

export function listSegments(directory: string): string[] {
  return listSpoolFiles(directory, /\.spool$/).sort();
}
