const HIGH_START = 0x80;
const HIGH_COUNT = 32;
/** The characters of bytes 80 to 9F, which differ from Latin-1. */
const HIGH = new TextDecoder('windows-1252').decode(
  Uint8Array.from({ length: HIGH_COUNT }, (_, index) => HIGH_START + index),
);
const BYTES = new Map([...HIGH].map((char, index) => [char, String.fromCharCode(HIGH_START + index)]));
const OUTSIDE = /[^\p{ASCII}\u00A0-\u00FF]/gu;
const PLAIN = /^\p{ASCII}+$/u;

/**
 * Spells a text with the characters of windows-1252, each as the Latin-1 character of its byte: written as Latin-1 it is
 * windows-1252. A letter that the charset lacks loses its accent, any other character becomes `?`.
 */
export function spellWindows1252(text: string): string {
  return text.replace(OUTSIDE, (char) => BYTES.get(char) ?? simplify(char));
}

function simplify(char: string): string {
  const plain = char.normalize('NFKD').replace(/\p{M}/gu, '');
  return PLAIN.test(plain) ? plain : '?';
}
