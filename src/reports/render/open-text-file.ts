import { open } from 'node:fs/promises';
import { createEncoder } from '../xlsx/create-encoder.ts';

/** A text file under construction: `add` buffers, `drain` writes the buffer to the disk, so memory stays bounded. */
export type TextFile = { add(text: string): void; drain(): Promise<void>; end(): Promise<void> };

/** Opens a new file. The signal closes it early. `finalizeDraft` flushes it to the disk. */
export async function openTextFile(file: string, signal: AbortSignal): Promise<TextFile> {
  const handle = await open(file, 'w');
  const close = (): void => void handle.close().catch(() => undefined);
  signal.addEventListener('abort', close, { once: true });
  const encode = createEncoder();
  let text = '';

  async function drain(): Promise<void> {
    const chunk = text;
    text = '';
    if (chunk !== '') await handle.appendFile(encode(chunk));
  }

  return {
    add(more) {
      text += more;
    },
    drain,
    async end() {
      try {
        await drain();
      } finally {
        signal.removeEventListener('abort', close);
        await handle.close();
      }
    },
  };
}
