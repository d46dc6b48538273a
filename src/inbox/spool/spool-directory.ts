import { existsSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../../embedded/files/make-directory.ts';

/** As much as a large webhook. */
const PROBE_BYTES = 16 * 1024;

/** Makes the directory again if it was removed. @param onRemoved is called then: what was in it is lost. */
export function ensureDirectory(directory: string, onRemoved: () => void): void {
  if (existsSync(directory)) return;
  makeDirectory(directory);
  onRemoved();
}

/** Writes a file to the disk as an append does, and removes it. @throws the error that would refuse a webhook. */
export async function probeDirectory(directory: string, owner: string): Promise<void> {
  const name = path.join(directory, `probe.${owner}`);
  try {
    await using file = await open(name, 'w', 0o600);
    await file.writeFile(Buffer.alloc(PROBE_BYTES));
    await file.datasync();
  } finally {
    await unlink(name).catch(() => undefined);
  }
}
