import { crc32, deflateSync } from 'node:zlib';
import QRCode from 'qrcode';

const MODULE_PX = 4;
const QUIET_MODULES = 4;
const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** A page of the list has 100 codes: with a fixed mask one takes 0.1 ms, with the library's choice of mask 0.3 ms. */
const QR_OPTIONS = { errorCorrectionLevel: 'M', maskPattern: 0 } as const;
/** A match is at most 4 rows back, so a window of 512 bytes is enough. zlib's default takes 256 KiB for each image. */
const DEFLATE_OPTIONS = { level: 1, windowBits: 9, memLevel: 1 };

/** A text as a QR code: a black and white PNG, 4 pixels per module, with the quiet border that readers need. */
export function drawQrCode(text: string): Buffer {
  const { modules } = QRCode.create([{ data: Buffer.from(text), mode: 'byte' }], QR_OPTIONS);
  const sidePx = (modules.size + 2 * QUIET_MODULES) * MODULE_PX;
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]); // width, height, one bit per pixel, greyscale
  header.writeUInt32BE(sidePx, 0);
  header.writeUInt32BE(sidePx, 4);
  const pixels = deflateSync(drawRows(modules.data, modules.size), DEFLATE_OPTIONS);
  return Buffer.concat([PNG_SIGNATURE, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

/** Each pixel row begins with a zero byte (no filter). Two modules share a byte: 4 pixels are half a byte, 0 is dark. */
function drawRows(modules: ArrayLike<number>, size: number): Buffer {
  const bytesPerRow = 1 + (size + 2 * QUIET_MODULES + 1) / 2; // the size of a QR code is odd
  const out = Buffer.alloc(bytesPerRow * (size + 2 * QUIET_MODULES) * MODULE_PX, 0xff);
  for (let at = 0; at < out.length; at += bytesPerRow) out[at] = 0;
  for (let row = 0; row < size; row++) {
    const start = (row + QUIET_MODULES) * MODULE_PX * bytesPerRow;
    for (let column = 0; column < size; column++) {
      if (!modules[row * size + column]) continue;
      const at = start + 1 + ((column + QUIET_MODULES) >> 1);
      out[at] = (out[at] ?? 0) & (column % 2 === 0 ? 0x0f : 0xf0);
    }
    for (let copy = 1; copy < MODULE_PX; copy++) {
      out.copyWithin(start + copy * bytesPerRow, start, start + bytesPerRow);
    }
  }
  return out;
}

function chunk(type: string, data: Buffer): Buffer {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}
