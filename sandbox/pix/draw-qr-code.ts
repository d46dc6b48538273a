import QRCode from 'qrcode';
import { finishPng, openPng, PIXELS_AT, type Png } from './write-png.ts';

const MODULE_PX = 2;
const QUIET_MODULES = 4;
/** The mask is fixed: the library's choice of one takes 0.2 ms more, and depends on the text. */
const QR_OPTIONS = { errorCorrectionLevel: 'M', maskPattern: 0 } as const;
/** The texts of PIX charges have nine lengths, by their amounts. One takes at most about 0.4 MB. */
const TEMPLATES_MAX = 16;

/** The code of one text, from which the codes of all texts of that length are derived. */
type Template = {
  text: Buffer;
  /** Modules on each side, with the border. */
  side: number;
  modules: Int32Array;
  /** by position * 256 + byte: the difference that another byte at this position makes to `modules` */
  differences: Map<number, Int32Array>;
  /** The modules of the newest code, and as bytes: one bit each, 1 is dark, rows begin at a byte. */
  drawn: Int32Array;
  drawnBytes: Buffer;
  /** The PNG of the newest code. */
  png: Png;
};

const templates = new Map<number, Template>();

/**
 * Draws a text as a QR code: a black and white PNG, 2 pixels per module, with the quiet border that readers need.
 *
 * A page of the list has up to 100 codes, so the library's result is reused. Reed-Solomon codes are linear and the mask is
 * fixed: one byte at one position makes the same difference in every text of a length. The library encodes each such
 * difference once.
 * @returns the file in base64.
 */
export function drawQrCode(text: string): string {
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
  return finishPng(template.png).toString('base64');
}

function templateOf(text: Buffer): Template {
  const known = templates.get(text.length);
  if (known) return known;
  const { modules, side } = encode(text);
  const drawn = new Int32Array(modules.length);
  const png = openPng(side * MODULE_PX);
  const drawnBytes = Buffer.from(drawn.buffer);
  const template: Template = { text, side, modules, differences: new Map(), drawn, drawnBytes, png };
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
  const modules = new Int32Array(Math.ceil((side * bytesOf(side)) / 4));
  const out = Buffer.from(modules.buffer);
  for (let row = 0; row < size; row++) {
    const start = (row + QUIET_MODULES) * bytesOf(side);
    for (let column = 0; column < size; column++) {
      const bit = column + QUIET_MODULES;
      const at = start + (bit >> 3);
      if (data[row * size + column]) out[at] = (out[at] ?? 0) | (0x80 >> (bit & 7));
    }
  }
  return { modules, side };
}

/** Eight modules as pixels: two bytes, 0 is dark. */
const PIXELS_OF = Uint16Array.from({ length: 256 }, (_, modules) => {
  let pixels = 0;
  for (let bit = 0x80; bit > 0; bit >>= 1) pixels = (pixels << MODULE_PX) | (modules & bit ? 0 : 0b11);
  return pixels;
});

function drawPixels({ side, drawnBytes, png: { file, rowBytes } }: Template): void {
  for (let row = 0; row < side; row++) {
    const start = PIXELS_AT + row * MODULE_PX * rowBytes;
    const end = start + rowBytes;
    let at = start + 1;
    for (let byte = row * bytesOf(side); at < end; byte++) {
      const pixels = PIXELS_OF[drawnBytes[byte] ?? 0] ?? 0;
      file[at++] = pixels >> 8;
      if (at < end) file[at++] = pixels;
    }
    file.copyWithin(end, start, end);
  }
}

function bytesOf(bits: number): number {
  return Math.ceil(bits / 8);
}
