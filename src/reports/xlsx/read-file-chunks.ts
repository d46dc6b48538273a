import { open } from 'node:fs/promises';

const PIECE_BYTES = 256 * 1024;

/**
 * A file, piece by piece through one buffer: a piece is good until the next one is asked for. A stream makes a buffer for
 * each piece, outside of the heap: a file of 50 MB left 50 MB of them before the collector came round.
 */
export async function* readFileChunks(file: string): AsyncGenerator<Buffer, void, undefined> {
  const handle = await open(file, 'r');
  try {
    const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, PIECE_BYTES, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
