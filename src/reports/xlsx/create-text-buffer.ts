const ROUND_UP_BYTES = 65_536;
/** Rows are made of hundreds of parts, which are copied into one text when it is encoded: half the time while they are in the cache. */
const ENCODE_CHARS = 16_384;

/** `take` returns all that was added, encoded, in a buffer that the next call but one uses again. */
export type TextBuffer = { add: (text: string) => void; take: () => Buffer };

/**
 * Encodes texts into two buffers in turn: one is written while the next is filled. A new buffer for each chunk
 * leaves megabytes outside of the heap, which the garbage collector frees late.
 * @param spell is given texts before they are encoded.
 */
export function createTextBuffer(
  encoding: BufferEncoding = 'utf8',
  spell: (text: string) => string = (text) => text,
): TextBuffer {
  let buffer: Buffer = Buffer.alloc(0);
  let other: Buffer = Buffer.alloc(0);
  let bytes = 0;
  let text = '';

  function encode(): void {
    const spelt = spell(text);
    text = '';
    const needed = bytes + Buffer.byteLength(spelt, encoding);
    if (needed > buffer.length) buffer = enlarge(buffer, { bytes, needed });
    bytes += buffer.write(spelt, bytes, encoding);
  }

  return {
    add(more) {
      text += more;
      if (text.length >= ENCODE_CHARS) encode();
    },
    take() {
      encode();
      const filled = buffer.subarray(0, bytes);
      // the buffer that was taken last may still be in use
      if (bytes === 0) return filled;
      [buffer, other] = [other, buffer];
      bytes = 0;
      return filled;
    },
  };
}

function enlarge(buffer: Buffer, { bytes, needed }: { bytes: number; needed: number }): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.ceil(needed / ROUND_UP_BYTES) * ROUND_UP_BYTES);
  buffer.copy(larger, 0, 0, bytes);
  return larger;
}
