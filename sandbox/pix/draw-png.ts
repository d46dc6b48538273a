import { crc32 } from 'node:zlib';
import { deflateRows } from './deflate-rows.ts';
import type { QrMatrix } from './encode-qr.ts';

const SCALE = 4;
const QUIET_MODULES = 4;
const SIGNATURE_BYTES = 8;
const HEADER_BYTES = 25;
/** two modules as eight pixels; 1 is dark, a dark pixel is 0 */
const PIXELS = [0xff, 0xf0, 0x0f, 0x00];
const CHUNK_BYTES = 12;

/** A black and white PNG of a QR code, four pixels a module, with the quiet border that readers need. */
export function drawPng(matrix: QrMatrix): Buffer {
  const side = (matrix.size + 2 * QUIET_MODULES) * SCALE;
  const stride = 1 + Math.ceil(side / 8);
  const pixels = deflateRows(rowsOf(matrix, stride), stride, SCALE);
  const out = Buffer.allocUnsafe(SIGNATURE_BYTES + HEADER_BYTES + CHUNK_BYTES + pixels.length + CHUNK_BYTES);
  out.write('\x89PNG\r\n\x1a\n', 'latin1');
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]); // width, height, one bit a pixel, greyscale
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  let at = writeChunk(out, SIGNATURE_BYTES, 'IHDR', header);
  at = writeChunk(out, at, 'IDAT', pixels);
  writeChunk(out, at, 'IEND', Buffer.alloc(0));
  return out;
}

/** A row of pixels for each row of modules and of the border, behind a zero byte (no filter); four pixels are half a byte. */
function rowsOf({ size, modules }: QrMatrix, stride: number): Uint8Array {
  const out = new Uint8Array(stride * (size + 2 * QUIET_MODULES)).fill(0xff);
  for (let start = 0; start < out.length; start += stride) out[start] = 0;
  for (let row = 0; row < size; row++) {
    let at = (row + QUIET_MODULES) * stride + 1 + QUIET_MODULES / 2;
    // the size of a QR code is odd: the last byte holds one module and the border
    for (let module = row * size, end = module + size; module < end; module += 2, at++) {
      const right = module + 1 < end ? (modules[module + 1] ?? 0) : 0;
      out[at] = PIXELS[((modules[module] ?? 0) << 1) | right] ?? 0;
    }
  }
  return out;
}

/** Writes a chunk and answers where the next begins. */
function writeChunk(out: Buffer, at: number, type: string, data: Uint8Array): number {
  const end = at + 8 + data.length;
  out.writeUInt32BE(data.length, at);
  out.write(type, at + 4, 'latin1');
  out.set(data, at + 8);
  out.writeUInt32BE(crc32(out.subarray(at + 4, end)), end);
  return end + 4;
}
