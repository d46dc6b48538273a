import { correctionOf } from './correct-errors.ts';
import { type QrLayout, qrLayoutOf, VERSION_MAX } from './lay-out-qr.ts';

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
  const modules = Uint8Array.from(layout.fixed);
  const { positions, masked } = layout;
  for (let i = 0; i < positions.length; i++) {
    const bit = ((codewords[i >> 3] ?? 0) >> (7 - (i & 7))) & 1; // beyond the codewords: remainder bits, 0
    modules[positions[i] ?? 0] = bit ^ (masked[i] ?? 0);
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

/** Mode, length, bytes, terminator and padding: all data codewords. */
function segmentOf(layout: QrLayout, data: Uint8Array): Uint8Array {
  const out = new Uint8Array(layout.dataCodewords);
  let bit = 0;
  const put = (value: number, width: number): void => {
    for (let i = width - 1; i >= 0; i--, bit++)
      out[bit >> 3] = (out[bit >> 3] ?? 0) | (((value >> i) & 1) << (7 - (bit & 7)));
  };
  put(0b0100, 4);
  put(data.length, layout.countBits);
  for (const byte of data) put(byte, 8);
  let next = Math.min(Math.ceil((bit + 4) / 8), out.length);
  for (let pad = 0xec; next < out.length; next++, pad ^= 0xec ^ 0x11) out[next] = pad;
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
  const corrections = parts.map((part) => correctionOf(part, correctionCodewords));
  const out = new Uint8Array(data.length + blocks * correctionCodewords);
  let at = 0;
  for (let i = 0; i <= short; i++) for (const part of parts) if (i < part.length) out[at++] = part[i] ?? 0;
  for (let i = 0; i < correctionCodewords; i++) for (const part of corrections) out[at++] = part[i] ?? 0;
  return out;
}
