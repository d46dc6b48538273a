import { crc32 } from 'node:zlib';

/** A black and white square. `rowBytes`: a row of pixels, after the byte of its filter, which is 0. */
export type Png = { file: Buffer; rowBytes: number };

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Before the pixels: the signature, IHDR, the head of IDAT, and those of a zlib stream and of its one block. */
const IDAT_AT = SIGNATURE.length + 25;
const ZLIB_AT = IDAT_AT + 8;
export const PIXELS_AT = ZLIB_AT + 7;

/**
 * Makes a file whose pixels are stored, not compressed, so that each code is drawn into the same file. node:zlib makes an
 * object for each compression that only a major garbage collection frees: pages of 75 codes caused one every 20 pages.
 */
export function openPng(sidePx: number): Png {
  const rowBytes = 1 + Math.ceil(sidePx / 8);
  const pixelBytes = sidePx * rowBytes;
  const file = Buffer.alloc(PIXELS_AT + pixelBytes + 8 + 12);
  SIGNATURE.copy(file);
  startChunk(file, SIGNATURE.length, 'IHDR', 13);
  const header = SIGNATURE.length + 8;
  file.writeUInt32BE(sidePx, header);
  file.writeUInt32BE(sidePx, header + 4);
  file[header + 8] = 1; // bits per pixel; the other fields are 0: greyscale
  endChunk(file, SIGNATURE.length);
  startChunk(file, IDAT_AT, 'IDAT', 7 + pixelBytes + 4);
  file.writeUInt16BE(0x7801, ZLIB_AT);
  file[ZLIB_AT + 2] = 1; // the last block, stored
  file.writeUInt16LE(pixelBytes, ZLIB_AT + 3);
  file.writeUInt16LE(pixelBytes ^ 0xffff, ZLIB_AT + 5);
  const end = file.length - 12;
  startChunk(file, end, 'IEND', 0);
  endChunk(file, end);
  return { file, rowBytes };
}

/** Writes the checksums of the pixels. */
export function finishPng({ file }: Png): Buffer {
  const end = file.length - 12 - 8;
  // Adler-32; no sum of these exceeds 2^53, so the remainders are taken once
  let [a, b] = [1, 0];
  for (let at = PIXELS_AT; at < end; at++) {
    a += file[at] ?? 0;
    b += a;
  }
  file.writeUInt16BE(b % 65_521, end);
  file.writeUInt16BE(a % 65_521, end + 2);
  endChunk(file, IDAT_AT);
  return file;
}

function startChunk(file: Buffer, at: number, type: string, bytes: number): void {
  file.writeUInt32BE(bytes, at);
  file.write(type, at + 4, 'latin1');
}

function endChunk(file: Buffer, at: number): void {
  const end = at + 8 + file.readUInt32BE(at);
  file.writeUInt32BE(crc32(file.subarray(at + 4, end)), end);
}
