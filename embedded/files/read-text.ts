import { readFileSync } from 'node:fs';

/** Reads a text. @throws the system's error with the path: of a directory, which can be opened, it lacks that. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw Object.assign(error as Error, { path: file });
  }
}
