import { crc32, deflateSync } from 'node:zlib';
import QRCode from 'qrcode';

const MODULE_PX = 4;
const QUIET_MODULES = 4;
const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** The mask is fixed: the library's choice of one takes 0.2 ms more, and depends on the text. */
const QR_OPTIONS = { errorCorrectionLevel: 'M', maskPattern: 0 } as const;
/** An image has 8 KiB before and 0.8 KiB after. zlib's defaults allocate 272 KiB; a window of 512 bytes takes three times as long. */
const DEFLATE_OPTIONS = { level: 1, windowBits: 12, memLevel: 5, chunkSize: 2_048 };
/** The texts of PIX charges have nine lengths, by their amounts. One takes at most about 1 MB. */
const TEMPLATES_MAX = 16;

/** The code of one text, from which the codes of all texts of that length are derived. */
type Template = {
  text: Buffer;
  side: number;
  rows: Int32Array;
  /** by position * 256 + byte: the difference that another byte at this position makes to `rows` */
  differences: Map<number, Int32Array>;
};

const templates = new Map<number, Template>();

/**
 * Draws a text as a QR code: a black and white PNG, 4 pixels per module, with the quiet border that readers need.
 *
 * A page of the list has up to 100 codes, so the library's result is reused. Reed-Solomon codes are linear and the mask is
 * fixed: one byte at one position makes the same difference in every text of a length. The library encodes each such
 * difference once.
 */
export function drawQrCode(text: string): Buffer {
  const bytes = Buffer.from(text);
  const template = templateOf(bytes);
  const rows = Int32Array.from(template.rows);
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === template.text[at]) continue;
    const difference = differenceOf(template, at, bytes[at] ?? 0);
    for (let word = 0; word < rows.length; word++) rows[word] = (rows[word] ?? 0) ^ (difference[word] ?? 0);
  }
  const sidePx = template.side * MODULE_PX;
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]); // width, height, one bit per pixel, greyscale
  header.writeUInt32BE(sidePx, 0);
  header.writeUInt32BE(sidePx, 4);
  const data = deflateSync(repeatRows(Buffer.from(rows.buffer), template.side), DEFLATE_OPTIONS);
  return Buffer.concat([PNG_SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function templateOf(text: Buffer): Template {
  const known = templates.get(text.length);
  if (known) return known;
  const template: Template = { text, ...drawRows(text), differences: new Map() };
  if (templates.size === TEMPLATES_MAX) templates.clear();
  templates.set(text.length, template);
  return template;
}

function differenceOf({ text, rows, differences }: Template, at: number, byte: number): Int32Array {
  const known = differences.get(at * 256 + byte);
  if (known) return known;
  const changed = Buffer.from(text);
  changed[at] = byte;
  const difference = drawRows(changed).rows.map((word, index) => word ^ (rows[index] ?? 0));
  differences.set(at * 256 + byte, difference);
  return difference;
}

/** One pixel row per row of modules, with the border. A zero byte (no filter) begins it; two modules share a byte, 0 is dark. */
function drawRows(text: Buffer): { rows: Int32Array; side: number } {
  const { size, data } = QRCode.create([{ data: text, mode: 'byte' }], QR_OPTIONS).modules;
  const side = size + 2 * QUIET_MODULES;
  const bytesPerRow = bytesPerRowOf(side);
  const rows = new Int32Array(Math.ceil((side * bytesPerRow) / 4));
  const out = Buffer.from(rows.buffer).fill(0xff);
  for (let at = 0; at < out.length; at += bytesPerRow) out[at] = 0;
  for (let row = 0; row < size; row++) {
    const start = (row + QUIET_MODULES) * bytesPerRow + 1;
    for (let column = 0; column < size; column++) {
      if (!data[row * size + column]) continue;
      const at = start + ((column + QUIET_MODULES) >> 1);
      out[at] = (out[at] ?? 0) & (column % 2 === 0 ? 0x0f : 0xf0);
    }
  }
  return { rows, side };
}

/** Repeats each row for the height of a module: PNG's filter 2 adds the row above, so zeros repeat it. */
function repeatRows(rows: Buffer, side: number): Buffer {
  const bytesPerRow = bytesPerRowOf(side);
  const out = Buffer.alloc(side * MODULE_PX * bytesPerRow);
  for (let row = 0; row < side; row++) {
    const start = row * MODULE_PX * bytesPerRow;
    rows.copy(out, start, row * bytesPerRow, (row + 1) * bytesPerRow);
    for (let copy = 1; copy < MODULE_PX; copy++) out[start + copy * bytesPerRow] = 2;
  }
  return out;
}

/** The size of a QR code is odd, so is its side with the border. */
function bytesPerRowOf(side: number): number {
  return 1 + (side + 1) / 2;
}

function chunk(type: string, data: Buffer): Buffer {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}
