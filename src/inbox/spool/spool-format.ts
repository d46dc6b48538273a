/**
 * Format of a spooled webhook: `CFS1`, the length and the CRC-32 of the content (both unsigned, 4 bytes, big endian), then
 * the content: JSON of the head, a line feed, and the raw body. An incomplete record at the very end of a segment was being
 * written in a crash, so it was never answered. A record damaged elsewhere may have been answered: it is skipped, the
 * records after it are read, and its segment is retained.
 */
import { crc32 } from 'node:zlib';

const MAGIC = Buffer.from('CFS1');
const HEAD_BYTES = MAGIC.length + 8;
const LINE_FEED = 0x0a;
/** Upper bound of a record (a body has at most 256 KiB): a larger length is damage. */
const RECORD_BYTES_MAX = 512 * 1024;

export type SpooledWebhook = { receivedAt: Date; address: string; headers: Record<string, string>; body: Buffer };
export type Segment = {
  records: SpooledWebhook[];
  /** Bytes of an incomplete record at the end. */
  truncatedBytes: number;
  /** Bytes of records that may have been complete once. */
  damagedBytes: number;
};

export function encodeRecord(one: SpooledWebhook): Buffer {
  const head = JSON.stringify({ receivedAt: one.receivedAt.getTime(), address: one.address, headers: one.headers });
  const content = Buffer.concat([Buffer.from(head), Buffer.from([LINE_FEED]), one.body]);
  if (content.length > RECORD_BYTES_MAX)
    throw new Error(`a record of ${content.length} bytes exceeds the limit of the spool`);
  const frame = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(frame);
  frame.writeUInt32BE(content.length, MAGIC.length);
  frame.writeUInt32BE(crc32(content), MAGIC.length + 4);
  return Buffer.concat([frame, content]);
}

/** Reads all complete records of a segment in order, also after a damaged one. */
export function decodeSegment(segment: Buffer): Segment {
  const records: SpooledWebhook[] = [];
  let damagedBytes = 0;
  for (const { at, bytes, record } of splitSegment(segment)) {
    if (record) records.push(record);
    else if (at + bytes.length === segment.length && isCutOff(segment, at)) {
      return { records, damagedBytes, truncatedBytes: bytes.length };
    } else damagedBytes += bytes.length;
  }
  return { records, damagedBytes, truncatedBytes: 0 };
}

/** Splits a segment into complete records and the bytes between them. */
export function* splitSegment(
  segment: Buffer,
): Generator<{ at: number; bytes: Buffer; record: SpooledWebhook | undefined }, void, undefined> {
  for (let at = 0; at < segment.length; ) {
    const content = contentAt(segment, at);
    const end = content ? at + HEAD_BYTES + content.length : (findRecord(segment, at + 1) ?? segment.length);
    yield { at, bytes: segment.subarray(at, end), record: content && decodeContent(content) };
    at = end;
  }
}

/** @returns the content of the complete record at this offset; undefined if there is none. */
function contentAt(segment: Buffer, at: number): Buffer | undefined {
  if (at + HEAD_BYTES > segment.length || !segment.subarray(at, at + MAGIC.length).equals(MAGIC)) return undefined;
  const length = segment.readUInt32BE(at + MAGIC.length);
  if (length > RECORD_BYTES_MAX || at + HEAD_BYTES + length > segment.length) return undefined;
  const content = segment.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
  return crc32(content) === segment.readUInt32BE(at + MAGIC.length + 4) ? content : undefined;
}

function findRecord(segment: Buffer, from: number): number | undefined {
  for (let at = segment.indexOf(MAGIC, from); at >= 0; at = segment.indexOf(MAGIC, at + 1)) {
    if (contentAt(segment, at)) return at;
  }
  return undefined;
}

/** Whether a record starts at this offset and the segment ends before it does. */
function isCutOff(segment: Buffer, at: number): boolean {
  const magic = segment.subarray(at, at + MAGIC.length);
  if (!magic.equals(MAGIC.subarray(0, magic.length))) return false;
  if (at + HEAD_BYTES > segment.length) return true;
  const length = segment.readUInt32BE(at + MAGIC.length);
  return length <= RECORD_BYTES_MAX && at + HEAD_BYTES + length > segment.length;
}

function decodeContent(content: Buffer): SpooledWebhook {
  const end = content.indexOf(LINE_FEED);
  const head = JSON.parse(content.subarray(0, end).toString()) as {
    receivedAt: number;
    address: string;
    headers: Record<string, string>;
  };
  return { ...head, receivedAt: new Date(head.receivedAt), body: content.subarray(end + 1) };
}
