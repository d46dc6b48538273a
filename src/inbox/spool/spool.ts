/**
 * Durable storage for webhooks while the database is unavailable: append-only segments in a directory, flushed to the disk
 * before a request is answered, several requests with one flush. A segment's name names its owner process. A drain claims
 * its own closed segments and, by renaming them, those of processes that are gone. After each flush the writer checks that
 * its segment still has its name; if not, it writes the batch again to a new one. So a process that others wrongly
 * consider dead loses nothing. The spool is bounded in bytes: a full spool refuses webhooks.
 */
import { hash, randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { open, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../../embedded/files/make-directory.ts';
import { ConfereError } from '../../domain/errors.ts';
import { createBatcher } from '../../runtime/batch.ts';
import {
  dropTail,
  ignoreMissing,
  isInPlace,
  isMissing,
  listSegments,
  nameSegment,
  type OpenSegment,
  readOrNone,
  syncNames,
} from './segment-files.ts';
import { ensureDirectory, probeDirectory } from './spool-directory.ts';
import { encodeRecord, type Segment, type SpooledWebhook } from './spool-format.ts';
import { checkOwner, nameOwner, nameSpool } from './spool-owner.ts';

export const SPOOL_BYTES_MAX = 1024 ** 3;
const SEGMENT_BYTES_MAX = 32 * 1024 * 1024;
const APPEND_RECORDS_MAX = 512;
const APPEND_BYTES_MAX = 8 * 1024 * 1024;
/** Webhooks that may wait for the disk, in memory. Beyond it they are refused. */
const WAITING_MAX = 8_192;
const WAITING_BYTES_MAX = 128 * 1024 * 1024;
/** A segment with an unknown owner (another container) is claimed once nothing was written to it for this long. */
export const FOREIGN_QUIET_MS = 2 * 60_000;
/** How often a batch is written again because its segment was claimed meanwhile. */
const WRITES_MAX = 3;

export type Spool = {
  /** Hash of host and directory: the same after a restart. */
  readonly name: string;
  readonly directory: string;
  /** Resolves once it is on the disk. @returns whether the same bytes are in the spool already. */
  append(one: SpooledWebhook): Promise<boolean>;
  /** Closes the current segment. @returns the segments that may be drained now, oldest first. */
  claimSegments(): Promise<string[]>;
  /** @returns undefined if another process has claimed it. */
  readSegment(name: string): Segment | undefined;
  /** Removes a segment whose records are in the inbox. A damaged one is retained as a file. @returns the path of that file. */
  removeSegment(name: string, segment: Segment): Promise<string | undefined>;
  /** Stores webhooks that the database refuses permanently in a file that is not drained. @returns its path. */
  storeRefused(records: SpooledWebhook[]): Promise<string>;
  readonly bytes: number;
  /** Writes and removes a file. @throws the error that would refuse a webhook: a full spool, a full disk. */
  probe(): Promise<void>;
  /** Whether the directory has no segment, of any process. */
  isEmpty(): boolean;
  /** Set by the receiver when a commit failed; cleared by the drain after its next commit. */
  isDatabaseDown: boolean;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Opens the spool of a directory.
 * @param onRemoved is called when the directory was removed meanwhile, and has been made again.
 * @throws Error when it can't be written to.
 */
export function openSpool(
  directory: string,
  bytesMax: number = SPOOL_BYTES_MAX,
  onRemoved: () => void = () => undefined,
): Spool {
  makeDirectory(directory);
  const owner = nameOwner();
  const hashes = new Map<string, number>();
  let bytes = 0;
  let current: OpenSegment | undefined;

  measure();
  for (const name of listSegments(directory)) {
    for (const record of readOrNone(path.join(directory, name))?.records ?? []) count(record, 1);
  }

  /** Reads the sizes from the directory: other processes may have drained or written there. */
  function measure(): void {
    const sizes = listSegments(directory).map((name) => {
      return statSync(path.join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
    });
    bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (sizes.length === 0) hashes.clear();
  }

  function count(record: SpooledWebhook, by: number): void {
    const key = hashOf(record.body);
    const left = (hashes.get(key) ?? 0) + by;
    if (left > 0) hashes.set(key, left);
    else hashes.delete(key);
  }

  // writing and closing are serialized: a segment is never closed during a write
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  }

  async function closeSegment(): Promise<void> {
    const closing = current;
    current = undefined;
    await closing?.file.close();
  }

  async function openSegment(): Promise<OpenSegment> {
    ensureDirectory(directory, onRemoved);
    const name = nameSegment(Date.now().toString().padStart(15, '0'), owner);
    const file = await open(path.join(directory, name), 'ax', 0o600);
    await syncNames(directory);
    return { name, file, inode: (await file.stat({ bigint: true })).ino, bytes: 0 };
  }

  async function writeToSegment(encoded: Buffer): Promise<OpenSegment> {
    for (let tries = 1; ; tries++) {
      const segment = await (current ?? openSegment());
      current = segment;
      try {
        await segment.file.appendFile(encoded);
        await segment.file.datasync();
      } catch (error) {
        current = undefined;
        await dropTail(directory, segment).catch(() => undefined);
        throw error;
      }
      // if it was claimed, the drain may have read it before this batch was in it
      if (await isInPlace(directory, segment)) return segment;
      await closeSegment();
      if (tries === WRITES_MAX)
        throw new ConfereError('unavailable', 'another process claims the segments of the spool during each write');
    }
  }

  /** Renames a segment of a process that is gone to this process. @returns undefined if it must not be claimed. */
  async function claimSegment(name: string): Promise<string | undefined> {
    const [begunAt = '', segmentOwner = ''] = name.split('.');
    if (segmentOwner === owner) return name;
    const ownerState = checkOwner(segmentOwner);
    if (ownerState === 'running') return undefined;
    const file = path.join(directory, name);
    try {
      if (ownerState === 'unknown' && Date.now() - (await stat(file)).mtimeMs < FOREIGN_QUIET_MS) return undefined;
      const own = nameSegment(begunAt, owner);
      await rename(file, path.join(directory, own));
      return own;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  function refuseFull(more: number): void {
    if (bytes + more <= bytesMax) return;
    throw new ConfereError('unavailable', `the spool is full: ${bytes} of ${bytesMax} bytes`);
  }

  async function writeBatch(batch: SpooledWebhook[]): Promise<boolean[]> {
    const encoded = Buffer.concat(batch.map(encodeRecord));
    refuseFull(encoded.length);
    const segment = await writeToSegment(encoded);
    bytes += encoded.length;
    segment.bytes += encoded.length;
    const repeats = batch.map((record) => {
      const repeat = hashes.has(hashOf(record.body));
      count(record, 1);
      return repeat;
    });
    if (segment.bytes > SEGMENT_BYTES_MAX) await closeSegment();
    return repeats;
  }

  const append = createBatcher<SpooledWebhook, boolean>({
    itemsMax: APPEND_RECORDS_MAX,
    bytesMax: APPEND_BYTES_MAX,
    sizeOf: (record) => record.body.length,
    inFlightMax: 1,
    waitingMax: WAITING_MAX,
    waitingBytesMax: WAITING_BYTES_MAX,
    work: (batch) => inTurn(() => writeBatch(batch)),
  });

  return {
    name: nameSpool(directory),
    directory,
    append,
    claimSegments: () =>
      inTurn(async () => {
        await closeSegment();
        ensureDirectory(directory, onRemoved);
        const claimed = await Promise.all(listSegments(directory).map(claimSegment));
        measure();
        return claimed.filter((name) => name !== undefined).sort();
      }),
    readSegment: (name) => readOrNone(path.join(directory, name)),
    async removeSegment(name, { records, damagedBytes }) {
      const file = path.join(directory, name);
      const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      const retained = damagedBytes > 0 ? file.replace(/\.spool$/, '.torn') : undefined;
      // a process that has claimed it still has it, and drains it again
      await (retained ? rename(file, retained) : unlink(file)).catch(ignoreMissing);
      bytes = Math.max(0, bytes - size);
      for (const record of records) count(record, -1);
      return retained;
    },
    async storeRefused(records) {
      const name = path.join(directory, `${Date.now()}.${randomBytes(4).toString('hex')}.refused`);
      const file = await open(name, 'wx', 0o600);
      await file.appendFile(Buffer.concat(records.map(encodeRecord)));
      await file.sync();
      await file.close();
      // before the caller removes their segment
      await syncNames(directory);
      return name;
    },
    get bytes() {
      return bytes;
    },
    async probe() {
      refuseFull(1);
      ensureDirectory(directory, onRemoved);
      await probeDirectory(directory, owner);
    },
    isEmpty: () => listSegments(directory).length === 0,
    isDatabaseDown: false,
    [Symbol.asyncDispose]: () => inTurn(closeSegment),
  };
}

function hashOf(body: Buffer): string {
  return hash('sha256', body, 'base64');
}
