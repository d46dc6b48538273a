import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Writes a file into the run's temporary directory. @returns its path. */
export function inFile(name: string, content: string): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'confere-test-')), name);
  writeFileSync(file, content);
  return file;
}
