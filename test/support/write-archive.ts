import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Keys } from '../../src/database/keys/settings.ts';

/** Writes a file of an archive as an earlier version did. */
export function writeArchive(keys: Keys, directory: string, name: string, lines: readonly object[]): void {
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const content = keys.archive.encrypt(gzipSync(text), { purpose: 'archive', row: [name] });
  const file = path.join(directory, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}
