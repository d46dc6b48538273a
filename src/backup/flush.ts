/** Flushes what was written: a file, or its name in a directory, survives a power cut only after that. */
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';

export async function flushDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, 'r');
  await handle.sync();
}

/** Flushes a directory with everything below it. */
export async function flushTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() && !entry.isDirectory()) continue;
    // a file opened to read is flushed too
    await flushDirectory(path.join(entry.parentPath, entry.name));
  }
  await flushDirectory(directory);
}
