const DIGIT = /^\p{Nd}$/u;
const DIGITS_OTHER = /(?![0-9])\p{Nd}/gu;
export const NOT_ASCII = /[^\0-\x7f]/;

/** Replaces the digits of all scripts (Arabic, Devanagari, full width) by ASCII digits; other characters stay. */
export function toAsciiDigits(text: string): string {
  return NOT_ASCII.test(text) ? text.replace(DIGITS_OTHER, readDigit) : text;
}

/** In Unicode the decimal digits of each script are consecutive, from zero on. */
function readDigit(digit: string): string {
  const known = knownDigits.get(digit);
  if (known !== undefined) return known;
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  const ascii = String((code - zero) % 10);
  knownDigits.set(digit, ascii);
  return ascii;
}

/** Unicode has some 700 of them. */
const knownDigits = new Map<string, string>();

/** Normalizes a document for comparison: capital letters and ASCII digits only. @returns null if nothing is left. */
export function normalizeDocument(document: string | null): string | null {
  const plain = toAsciiDigits(document ?? '')
    .replace(/[^0-9A-Za-z]/g, '')
    .toUpperCase();
  return plain === '' ? null : plain;
}

/** Limit of combining marks on one letter in Unicode's Stream-Safe Text Format (UAX #15); no language needs more. */
export const COMBINING_MARKS_MAX = 30;
/** Marks, and the two half-width signs that normalize to marks. */
const MARKS = '[\\p{M}\\uff9e\\uff9f]';
const TOO_MANY_MARKS = new RegExp(`(${MARKS}{${COMBINING_MARKS_MAX}})${MARKS}+`, 'gu');

/** Removes combining marks beyond the limit: normalizing sorts them, in quadratic time. */
export function limitCombiningMarks(text: string): string {
  return text.replace(TOO_MANY_MARKS, '$1');
}

/** Folds a name for search: no case, no accents, single spaces. `JOÃO  da Silva` becomes `joao da silva`. */
export function foldName(name: string): string {
  return limitCombiningMarks(name).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim();
}
