/**
 * How a webhook stands in the spool: `CFS1`, the length and the CRC-32 of what follows (both unsigned, 4 bytes, big
 * endian), then JSON of its head, a line feed, and the body as it came. A record that was cut off by a crash fails its
 * length or its CRC; since it was never answered, it is told and passed over.
 */
import { crc32 } from 'node:zlib';

const MAGIC = Buffer.from('CFS1');
const HEAD_BYTES = MAGIC.length + 8;
const LINE_FEED = 0x0a;

export type Spooled = { receivedAt: Date; address: string; headers: Record<string, string>; body: Buffer };

export function encodeRecord(one: Spooled): Buffer {
  const head = JSON.stringify({ receivedAt: one.receivedAt.getTime(), address: one.address, headers: one.headers });
  const content = Buffer.concat([Buffer.from(head), Buffer.from([LINE_FEED]), one.body]);
  const frame = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(frame);
  frame.writeUInt32BE(content.length, MAGIC.length);
  frame.writeUInt32BE(crc32(content), MAGIC.length + 4);
  return Buffer.concat([frame, content]);
}

/** Reads a segment. @returns its records in order, and how many bytes at its end are no whole record. */
export function decodeSegment(segment: Buffer): { records: Spooled[]; tornBytes: number } {
  const records: Spooled[] = [];
  let at = 0;
  while (at + HEAD_BYTES <= segment.length) {
    const length = segment.readUInt32BE(at + MAGIC.length);
    const content = segment.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
    const whole =
      segment.subarray(at, at + MAGIC.length).equals(MAGIC) &&
      content.length === length &&
      crc32(content) === segment.readUInt32BE(at + MAGIC.length + 4);
    if (!whole) break;
    records.push(decodeContent(content));
    at += HEAD_BYTES + length;
  }
  return { records, tornBytes: segment.length - at };
}

function decodeContent(content: Buffer): Spooled {
  const end = content.indexOf(LINE_FEED);
  const head = JSON.parse(content.subarray(0, end).toString()) as {
    receivedAt: number;
    address: string;
    headers: Record<string, string>;
  };
  return { ...head, receivedAt: new Date(head.receivedAt), body: content.subarray(end + 1) };
}
