import { writeFileSync } from 'node:fs';

/** Writes a file. @throws the system's error, always with the path: a write to a full disk fails without it. */
export function writeText(file: string, text: string, options: { mode?: number; flush?: boolean } = {}): void {
  try {
    writeFileSync(file, text, options);
  } catch (error) {
    throw Object.assign(error as NodeJS.ErrnoException, { path: file });
  }
}
