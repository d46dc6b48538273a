import { open } from 'node:fs/promises';

/** A text file that is written as it grows; `drain` waits for the disk, so memory stays bounded. */
export type TextFile = { add(text: string): void; drain(): Promise<void>; end(): Promise<void> };

/** Opens a new file; it is flushed to the disk by whoever publishes it. */
export async function openTextFile(file: string): Promise<TextFile> {
  const handle = await open(file, 'w');
  let text = '';

  async function drain(): Promise<void> {
    const chunk = text;
    text = '';
    if (chunk !== '') await handle.appendFile(chunk);
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
        await handle.close();
      }
    },
  };
}
