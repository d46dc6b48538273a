/**
 * Durable storage for webhooks while the database is away: append-only segments in a directory, flushed to the disk
 * before anything is answered, several requests with one flush. A segment belongs to the process that writes it; whoever
 * drains takes its own closed ones and those of processes that are gone. Bounded in bytes: a full spool refuses.
 */
import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { identifyProcess, isRunning } from '../../embedded/processes.ts';
import { createCoalescer } from '../database/coalesce.ts';
import { ConfereError } from '../domain/errors.ts';
import { decodeSegment, encodeRecord, type Segment, type Spooled } from './spool-format.ts';

export const SPOOL_BYTES_MAX = 1024 ** 3;
const SEGMENT_BYTES_MAX = 32 * 1024 * 1024;
const APPEND_RECORDS_MAX = 512;
const APPEND_BYTES_MAX = 8 * 1024 * 1024;

export type Spool = {
  /** Of the host and the directory: the same after a restart. */
  readonly name: string;
  /** Resolves once it is on the disk. @returns whether the same bytes are in the spool already. */
  append(one: Spooled): Promise<boolean>;
  /** Segments that may be drained now, the oldest first; the one being written is closed first. */
  takeSegments(): Promise<string[]>;
  readSegment(name: string): Segment;
  /** Once all of its records are in the inbox. A damaged one is kept as a file that nobody drains. @returns its path. */
  removeSegment(name: string, segment: Segment): Promise<string | undefined>;
  /** Keeps what the database refuses for good in a file of its own, which nobody drains. @returns its path. */
  keepRefused(records: Spooled[]): Promise<string>;
  readonly bytes: number;
  /** Whether nothing in the directory waits to be drained, by whomever. */
  isEmpty(): boolean;
  /** Said by the receiver when a commit failed; taken back by whoever drains, once the database has taken something. */
  databaseIsAway: boolean;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Opens the spool of a directory. @throws Error when it can't be written to. */
export function openSpool(directory: string, bytesMax: number = SPOOL_BYTES_MAX): Spool {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const owner = (identifyProcess(process.pid) ?? `${process.pid}:0`).replace(':', '-');
  const hashes = new Map<string, number>();
  let bytes = 0;
  let current: { name: string; file: FileHandle; bytes: number } | undefined;

  for (const name of listSegments(directory)) {
    bytes += statSync(path.join(directory, name)).size;
    for (const record of decodeSegment(readFileSync(path.join(directory, name))).records) count(record, 1);
  }

  function count(record: Spooled, by: number): void {
    const key = hashOf(record.body);
    const left = (hashes.get(key) ?? 0) + by;
    if (left > 0) hashes.set(key, left);
    else hashes.delete(key);
  }

  // a segment is never closed while a batch is being written to it: both go one after another
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

  async function openSegment(): Promise<{ name: string; file: FileHandle; bytes: number }> {
    // sorts by when it was begun; the owner in its name tells whether anyone still writes to it
    const name = `${Date.now().toString().padStart(15, '0')}.${owner}.${randomBytes(4).toString('hex')}.spool`;
    const file = await open(path.join(directory, name), 'ax', 0o600);
    const folder = await open(directory, 'r');
    await folder.sync();
    await folder.close();
    return { name, file, bytes: 0 };
  }

  async function writeBatch(batch: Spooled[]): Promise<boolean[]> {
    const encoded = Buffer.concat(batch.map(encodeRecord));
    if (bytes + encoded.length > bytesMax) {
      throw new ConfereError('unavailable', `the spool holds ${bytes} of ${bytesMax} bytes: it takes no more`);
    }
    current ??= await openSegment();
    try {
      await current.file.appendFile(encoded);
      await current.file.datasync();
    } catch (error) {
      // what a failed write left behind is a torn end: nothing may follow it in this segment
      await closeSegment().catch(() => undefined);
      throw error;
    }
    bytes += encoded.length;
    current.bytes += encoded.length;
    const repeats = batch.map((record) => {
      const repeat = hashes.has(hashOf(record.body));
      count(record, 1);
      return repeat;
    });
    if (current.bytes > SEGMENT_BYTES_MAX) await closeSegment();
    return repeats;
  }

  const append = createCoalescer<Spooled, boolean>({
    itemsMax: APPEND_RECORDS_MAX,
    bytesMax: APPEND_BYTES_MAX,
    sizeOf: (record) => record.body.length,
    inFlightMax: 1,
    work: (batch) => inTurn(() => writeBatch(batch)),
  });

  return {
    name: hash('sha256', `${os.hostname()}:${path.resolve(directory)}`, 'hex'),
    append,
    takeSegments: () =>
      inTurn(async () => {
        await closeSegment();
        return listSegments(directory).filter((name) => {
          const [, segmentOwner = ''] = name.split('.');
          return segmentOwner === owner || !isRunning(segmentOwner.replace('-', ':'));
        });
      }),
    readSegment: (name) => decodeSegment(readFileSync(path.join(directory, name))),
    async removeSegment(name, { records, damagedBytes }) {
      const file = path.join(directory, name);
      const { size } = statSync(file);
      const kept = damagedBytes > 0 ? file.replace(/\.spool$/, '.torn') : undefined;
      await (kept ? rename(file, kept) : unlink(file));
      bytes = Math.max(0, bytes - size);
      for (const record of records) count(record, -1);
      return kept;
    },
    async keepRefused(records) {
      const name = path.join(directory, `${Date.now()}.${randomBytes(4).toString('hex')}.refused`);
      const file = await open(name, 'wx', 0o600);
      await file.appendFile(Buffer.concat(records.map(encodeRecord)));
      await file.sync();
      await file.close();
      return name;
    },
    get bytes() {
      return bytes;
    },
    isEmpty: () => listSegments(directory).length === 0,
    databaseIsAway: false,
    [Symbol.asyncDispose]: () => inTurn(closeSegment),
  };
}

function listSegments(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.spool'))
    .sort();
}

function hashOf(body: Buffer): string {
  return hash('sha256', body, 'base64');
}
