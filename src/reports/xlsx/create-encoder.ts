const ROUND_UP_BYTES = 65_536;

/**
 * Turns text into UTF-8 in two buffers used by turns, so that one may be on its way while the next is filled. A fresh
 * buffer for each chunk is garbage of some megabytes outside of the heap, which the collector is late to take away.
 */
export function createEncoder(): (text: string) => Buffer {
  const buffers = [Buffer.alloc(0), Buffer.alloc(0)];
  let turn = 0;
  return (text) => {
    const bytes = Buffer.byteLength(text);
    turn = 1 - turn;
    let buffer = buffers[turn];
    if (!buffer || buffer.length < bytes) {
      buffer = Buffer.allocUnsafeSlow(Math.ceil(bytes / ROUND_UP_BYTES) * ROUND_UP_BYTES);
      buffers[turn] = buffer;
    }
    return buffer.subarray(0, buffer.write(text));
  };
}
