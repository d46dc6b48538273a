const DIGIT = /^\p{Nd}$/u;
const DIGITS_OTHER = /(?![0-9])\p{Nd}/gu;
const NOT_ASCII = /[^\0-\x7f]/;

/** The text with the digits of every script (Arabic, Devanagari, full width) as ASCII's; no other character changes. */
export function toAsciiDigits(text: string): string {
  return NOT_ASCII.test(text) ? text.replace(DIGITS_OTHER, readDigit) : text;
}

/** Unicode lists each script's decimal digits in a row, from zero on. */
function readDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String((code - zero) % 10);
}

/** A document as it is compared: letters in capitals and ASCII digits, nothing else. Null where none is left. */
export function normalizeDocument(document: string | null): string | null {
  const plain = toAsciiDigits(document ?? '')
    .replace(/[^0-9A-Za-z]/g, '')
    .toUpperCase();
  return plain === '' ? null : plain;
}

/** The most marks on one letter that Unicode's Stream-Safe Text Format (UAX #15) takes; no language has as many. */
export const COMBINING_MARKS_MAX = 30;
/** Marks, and the two signs of half width that become some. */
const MARKS = '[\\p{M}\\uff9e\\uff9f]';
const TOO_MANY_MARKS = new RegExp(`(${MARKS}{${COMBINING_MARKS_MAX}})${MARKS}+`, 'gu');

/** The text without the marks past that many in a row: to normalize puts them in order, in the square of their number. */
export function limitCombiningMarks(text: string): string {
  return text.replace(TOO_MANY_MARKS, '$1');
}

/** A name as it is searched: without case and accents, one space between words. `JOÃO  da Silva` is `joao da silva`. */
export function foldName(name: string): string {
  return limitCombiningMarks(name).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim();
}
