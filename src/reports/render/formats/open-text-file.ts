import { open } from 'node:fs/promises';
import { createTextBuffer, type TextBuffer } from '../../xlsx/create-text-buffer.ts';
import { readFileChunks } from '../../xlsx/read-file-chunks.ts';
import { spellWindows1252 } from './encode-windows-1252.ts';

export type Charset = 'utf-8' | 'windows-1252';

/** A text file under construction: `add` buffers, `drain` writes the buffer to the disk, so memory stays bounded. */
export type TextFile = {
  add(text: string): void;
  drain(): Promise<void>;
  /** Appends another file as it is. */
  append(file: string): Promise<void>;
  end(): Promise<void>;
};

/** Opens a new file. The signal closes it early. `finalizeDraft` flushes it to the disk. */
export async function openTextFile(file: string, signal: AbortSignal, charset: Charset = 'utf-8'): Promise<TextFile> {
  const handle = await open(file, 'w');
  const close = (): void => void handle.close().catch(() => undefined);
  signal.addEventListener('abort', close, { once: true });
  const buffer = openTextBuffer(charset);

  async function drain(): Promise<void> {
    const chunk = buffer.take();
    if (chunk.length > 0) await handle.appendFile(chunk);
  }

  return {
    add: buffer.add,
    drain,
    async append(other) {
      await drain();
      for await (const chunk of readFileChunks(other)) await handle.appendFile(chunk);
    },
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

/** A buffer that encodes what is added to it. */
export function openTextBuffer(charset: Charset): TextBuffer {
  return charset === 'utf-8' ? createTextBuffer() : createTextBuffer('latin1', spellWindows1252);
}
