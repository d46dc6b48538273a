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
 * Replaces what windows-1252 lacks: a letter loses its accent, any other character becomes `?`. An accent of a character of its own joins its letter. It comes before a text is guarded,
 * cut and escaped: `≮` becomes `<`, and `；` a separator.
 */
export function fitWindows1252(text: string): string {
  return text.normalize('NFC').replace(OUTSIDE, (char) => (BYTES.has(char) ? char : simplify(char)));
}

/**
 * Spells each character as the Latin-1 character of its byte in windows-1252: written as Latin-1 the text is windows-1252. Any
 * other character becomes `?`, which means nothing in any format.
 */
export function spellWindows1252(text: string): string {
  return text.replace(OUTSIDE, (char) => BYTES.get(char) ?? '?');
}

function simplify(char: string): string {
  const plain = char.normalize('NFKD').replace(/\p{M}/gu, '');
  return PLAIN.test(plain) ? plain : '?';
}
