import { crc32, deflateSync } from 'node:zlib';
import QRCode from 'qrcode';

const MODULE_PX = 4;
const QUIET_MODULES = 4;
const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const PNG_END = chunk('IEND', Buffer.alloc(0));
/** The mask is fixed: the library's choice of one takes 0.2 ms more, and depends on the text. */
const QR_OPTIONS = { errorCorrectionLevel: 'M', maskPattern: 0 } as const;
/** An image has 8 KiB before and 0.8 KiB after. zlib's defaults allocate 272 KiB; a window of 512 bytes takes three times as long. */
const DEFLATE_OPTIONS = { level: 1, windowBits: 12, memLevel: 5, chunkSize: 2_048 };
/** The texts of PIX charges have nine lengths, by their amounts. One takes at most about 0.4 MB. */
const TEMPLATES_MAX = 16;

/** The code of one text, from which the codes of all texts of that length are derived. */
type Template = {
  text: Buffer;
  /** Modules on each side, with the border: always an odd number. */
  side: number;
  modules: Int32Array;
  /** by position * 256 + byte: the difference that another byte at this position makes to `modules` */
  differences: Map<number, Int32Array>;
  /** What precedes the pixels in the file. */
  head: Buffer;
  /** The modules and the pixels of the newest code. New buffers for each code would be 1 MB a page: a major GC each 30 pages. */
  drawn: Int32Array;
  pixels: Buffer;
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
  const { drawn } = template;
  drawn.set(template.modules);
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === template.text[at]) continue;
    const difference = differenceOf(template, at, bytes[at] ?? 0);
    for (let word = 0; word < drawn.length; word++) drawn[word] = (drawn[word] ?? 0) ^ (difference[word] ?? 0);
  }
  drawPixels(template);
  return Buffer.concat([template.head, chunk('IDAT', deflateSync(template.pixels, DEFLATE_OPTIONS)), PNG_END]);
}

function templateOf(text: Buffer): Template {
  const known = templates.get(text.length);
  if (known) return known;
  const { modules, side } = encode(text);
  const sidePx = side * MODULE_PX;
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]); // width, height, one bit per pixel, greyscale
  header.writeUInt32BE(sidePx, 0);
  header.writeUInt32BE(sidePx, 4);
  const head = Buffer.concat([PNG_SIGNATURE, chunk('IHDR', header)]);
  const pixels = Buffer.alloc(sidePx * pixelBytesOf(side));
  // a byte begins each row. Filter 0: as it is; filter 2: added to the row above, so that zeros repeat it
  for (let row = 0; row < sidePx; row++) pixels[row * pixelBytesOf(side)] = row % MODULE_PX === 0 ? 0 : 2;
  const drawn = new Int32Array(modules.length);
  const template: Template = { text, side, modules, differences: new Map(), head, drawn, pixels };
  if (templates.size === TEMPLATES_MAX) templates.clear();
  templates.set(text.length, template);
  return template;
}

function differenceOf({ text, modules, differences }: Template, at: number, byte: number): Int32Array {
  const known = differences.get(at * 256 + byte);
  if (known) return known;
  const changed = Buffer.from(text);
  changed[at] = byte;
  const difference = encode(changed).modules.map((word, index) => word ^ (modules[index] ?? 0));
  differences.set(at * 256 + byte, difference);
  return difference;
}

/** Encodes a text by the library. @returns its modules with the border: one bit each, 1 is dark, rows begin at a byte. */
function encode(text: Buffer): { modules: Int32Array; side: number } {
  const { size, data } = QRCode.create([{ data: text, mode: 'byte' }], QR_OPTIONS).modules;
  const side = size + 2 * QUIET_MODULES;
  const modules = new Int32Array(Math.ceil((side * moduleBytesOf(side)) / 4));
  const out = Buffer.from(modules.buffer);
  for (let row = 0; row < size; row++) {
    const start = (row + QUIET_MODULES) * moduleBytesOf(side);
    for (let column = 0; column < size; column++) {
      const bit = column + QUIET_MODULES;
      const at = start + (bit >> 3);
      if (data[row * size + column]) out[at] = (out[at] ?? 0) | (0x80 >> (bit & 7));
    }
  }
  return { modules, side };
}

/** Eight modules as pixels: each of the four bytes has two modules of four pixels, 0 is dark. */
const PIXELS_OF = Int32Array.from({ length: 256 }, (_, modules) => {
  let pixels = 0;
  for (let bit = 0x80; bit > 0; bit >>= 1) pixels = (pixels << MODULE_PX) | (modules & bit ? 0 : 0xf);
  return pixels;
});

/** Writes the first row of pixels of each row of modules. The others repeat it. */
function drawPixels({ side, drawn, pixels }: Template): void {
  const modules = Buffer.from(drawn.buffer);
  const [moduleBytes, pixelBytes] = [moduleBytesOf(side), pixelBytesOf(side)];
  for (let row = 0; row < side; row++) {
    let at = row * MODULE_PX * pixelBytes + 1;
    const end = at + pixelBytes - 1;
    for (let byte = row * moduleBytes; at < end; byte++) {
      const eight = PIXELS_OF[modules[byte] ?? 0] ?? 0;
      for (let shift = 24; shift >= 0 && at < end; shift -= 8) pixels[at++] = eight >>> shift;
    }
  }
}

function moduleBytesOf(side: number): number {
  return Math.ceil(side / 8);
}

/** Bytes of a row of pixels, with its filter. */
function pixelBytesOf(side: number): number {
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
