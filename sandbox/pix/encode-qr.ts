import { computeErrorCorrection } from './compute-error-correction.ts';
import { type QrLayout, qrLayoutOf, VERSION_MAX } from './lay-out-qr.ts';

const BYTES_MODE = 0x40;

/** A square of modules, row by row; 1 is dark. */
export type QrMatrix = { size: number; modules: Uint8Array };

/**
 * A QR code of a text (bytes, correction level M, mask 0), in the smallest version that holds it.
 *
 * The list shows a hundred images a page and has 20 ms: the qrcode library takes 2 ms for one (it weighs all eight
 * masks, which readers do not need), this takes 0.05 ms. The tests hold it against that library, module by module.
 * Throws RangeError for a text that version 20 does not hold (666 bytes).
 */
export function encodeQr(text: string): QrMatrix {
  const data = Buffer.from(text, 'utf8');
  const layout = smallestFor(data.length);
  const codewords = interleave(layout, segmentOf(layout, data));
  const modules = Uint8Array.from(layout.blank);
  const { positions } = layout;
  for (let i = 0; i < codewords.length; i++) {
    const codeword = codewords[i] ?? 0;
    for (let bit = 0; bit < 8; bit++) {
      const at = positions[i * 8 + bit] ?? 0;
      modules[at] = (modules[at] ?? 0) ^ ((codeword >> (7 - bit)) & 1);
    }
  }
  return { size: layout.size, modules };
}

function smallestFor(bytes: number): QrLayout {
  for (let version = 1; version <= VERSION_MAX; version++) {
    const layout = qrLayoutOf(version);
    if (4 + layout.countBits + 8 * bytes <= 8 * layout.dataCodewords) return layout;
  }
  throw new RangeError(`a QR code here holds at most 666 bytes, got ${bytes}`);
}

/** Mode, length, bytes, terminator and padding: all data codewords. All of it falls on half bytes. */
function segmentOf(layout: QrLayout, data: Uint8Array): Uint8Array {
  const out = new Uint8Array(layout.dataCodewords);
  const { length } = data;
  let at = 0;
  if (layout.countBits === 16) {
    out[at++] = BYTES_MODE | (length >> 12);
    out[at++] = (length >> 4) & 0xff;
  } else out[at++] = BYTES_MODE | (length >> 4);
  let low = (length & 0x0f) << 4;
  for (const byte of data) {
    out[at++] = low | (byte >> 4);
    low = (byte & 0x0f) << 4;
  }
  if (at < out.length) out[at++] = low;
  for (let pad = 0xec; at < out.length; at++, pad ^= 0xec ^ 0x11) out[at] = pad;
  return out;
}

/** Data cut into blocks, each with its correction, then read across the blocks. */
function interleave(layout: QrLayout, data: Uint8Array): Uint8Array {
  const { blocks, correctionCodewords } = layout;
  const short = Math.floor(data.length / blocks);
  const longFrom = blocks - (data.length % blocks);
  const parts: Uint8Array[] = [];
  for (let block = 0, at = 0; block < blocks; block++) {
    const length = short + (block >= longFrom ? 1 : 0);
    parts.push(data.subarray(at, at + length));
    at += length;
  }
  const corrections = parts.map((part) => computeErrorCorrection(part, correctionCodewords));
  const out = new Uint8Array(data.length + blocks * correctionCodewords);
  let at = 0;
  for (let i = 0; i <= short; i++) for (const part of parts) if (i < part.length) out[at++] = part[i] ?? 0;
  for (let i = 0; i < correctionCodewords; i++) for (const part of corrections) out[at++] = part[i] ?? 0;
  return out;
}
