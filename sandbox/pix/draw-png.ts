import { crc32, deflateSync } from 'node:zlib';
import type { QrMatrix } from './encode-qr.ts';

const SCALE = 4;
const QUIET_MODULES = 4;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COMPRESSION_LEVEL = 1;

/** A black and white PNG of a QR code, four pixels a module, with the quiet border that readers need. */
export function drawPng(matrix: QrMatrix): Buffer {
  const side = (matrix.size + 2 * QUIET_MODULES) * SCALE;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 1; // one bit a pixel, greyscale
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(scanlines(matrix, side), { level: COMPRESSION_LEVEL })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function scanlines(matrix: QrMatrix, side: number): Uint8Array {
  const stride = 1 + Math.ceil(side / 8);
  const out = new Uint8Array(stride * side).fill(0xff);
  for (let y = 0; y < side; y++) out[y * stride] = 0; // filter: none
  for (let row = 0; row < matrix.size; row++) {
    const start = (row + QUIET_MODULES) * SCALE * stride;
    for (let column = 0; column < matrix.size; column++) {
      if (matrix.modules[row * matrix.size + column] !== 1) continue;
      // four pixels are half a byte
      const at = start + 1 + ((column + QUIET_MODULES) >> 1);
      out[at] = (out[at] ?? 0) & ((column + QUIET_MODULES) % 2 === 0 ? 0x0f : 0xf0);
    }
    for (let copy = 1; copy < SCALE; copy++) out.copyWithin(start + copy * stride, start, start + stride);
  }
  return out;
}

function chunk(type: string, data: Uint8Array): Buffer {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  out.set(data, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}
