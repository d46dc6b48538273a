/** Words of a text, as the search compares them. Pure. */
import { foldName } from './fold-person.ts';

/** Characters of the shortest word, and of the shortest beginning: fewer would list everybody. */
export const WORD_CHARS_MIN = 3;
/** A longer word is compared by as many. */
export const WORD_CHARS_MAX = 16;
const WORD = /[\p{L}\p{N}]+/gu;

/** Returns the distinct words of texts, folded as names are and cut to WORD_CHARS_MAX; without shorter ones. @param max of the first. */
export function splitWords(texts: readonly (string | null)[], max = Number.POSITIVE_INFINITY): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    for (const [word] of foldName(text ?? '').matchAll(WORD)) {
      const chars = [...word].slice(0, WORD_CHARS_MAX);
      if (chars.length >= WORD_CHARS_MIN) words.add(chars.join(''));
      if (words.size >= max) return [...words];
    }
  }
  return [...words];
}
