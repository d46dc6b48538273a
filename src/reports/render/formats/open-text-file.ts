import { open } from 'node:fs/promises';
import { createEncoder } from '../../xlsx/create-encoder.ts';
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
  const encode = createTextEncoder(charset);
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

/** Encodes a text into a buffer that the next call but one uses again. */
export function createTextEncoder(charset: Charset): (text: string) => Buffer {
  if (charset === 'utf-8') return createEncoder();
  const encode = createEncoder('latin1');
  return (text) => encode(spellWindows1252(text));
}
