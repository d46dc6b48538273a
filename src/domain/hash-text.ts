import { createHash } from 'node:crypto';

/** @returns the SHA-256 of a text. A random token needs no slow hash; a guessable one must not be stored so. */
export function hashText(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
