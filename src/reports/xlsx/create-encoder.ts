const ROUND_UP_BYTES = 65_536;

/**
 * Encodes text, by default as UTF-8, into two buffers in turn: one is written while the next is filled. A new buffer for each chunk
 * leaves megabytes outside of the heap, which the garbage collector frees late.
 */
export function createEncoder(encoding: BufferEncoding = 'utf8'): (text: string) => Buffer {
  const buffers = [Buffer.alloc(0), Buffer.alloc(0)];
  let turn = 0;
  return (text) => {
    const bytes = Buffer.byteLength(text, encoding);
    turn = 1 - turn;
    let buffer = buffers[turn];
    if (!buffer || buffer.length < bytes) {
      buffer = Buffer.allocUnsafeSlow(Math.ceil(bytes / ROUND_UP_BYTES) * ROUND_UP_BYTES);
      buffers[turn] = buffer;
    }
    return buffer.subarray(0, buffer.write(text, encoding));
  };
}
