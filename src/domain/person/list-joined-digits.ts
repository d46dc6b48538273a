/** Joins the digits of a text that are separated by letters, such as `A224B538C323D01`. Pure. */

/** Numbers farther apart are not joined. Longer than the separator in `{"a":"224","b":"538"}`. */
const APART = /\D{13,}/;
/** UUIDs, hashes and timestamps: their digits belong to no person, and have the length of a document by chance. */
const IDS =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{20,}|\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?/gi;
const BLANK = ' '.repeat(13);
const HAS_LETTERS_BETWEEN = /\d\D{0,12}\p{L}\D{0,12}\d/u;
/** Numbers of parts, as in `p1=224 p2=538` and `1) 224 2) 538`. */
const LABELS = /\p{L}\d{1,2}(?=["']?\s?[=:])|(?<!\d)\d(?!\d)/gu;
/** Digits, letters of their shape and separators, in a row. */
const LOOKALIKES = /[\dlIoO|./-]{9,}/g;
const LOOKALIKE = /[\dlIoO|][\dlIoO|./-]{7,16}[\dlIoO|]/g;
/** Fewer digits occur by chance. */
const DIGITS_MIN = 6;

/**
 * Returns the digits of a decoded text without the letters between them: all digits, and those without the numbers of
 * parts. Digits without letters in between are not returned.
 */
export function listJoinedDigits(reading: string): string[] {
  if (!/\d/.test(reading)) return [];
  const plain = reading.replace(IDS, BLANK);
  const joined = plain
    .split(APART)
    .flatMap((chunk) => (HAS_LETTERS_BETWEEN.test(chunk) ? [chunk, chunk.replace(LABELS, '')] : []))
    .concat((plain.match(LOOKALIKES) ?? []).flatMap(findLookalikes).map(readLookalikes))
    .map((one) => one.replace(/\D/g, ''));
  return [...new Set(joined)].filter((digits) => digits.length >= DIGITS_MIN);
}

/** @returns the parts with letters that begin before the last digit of a row. Searching for a digit from each character takes quadratic time. */
function findLookalikes(row: string): string[] {
  let last = row.length - 1;
  while (last >= 0 && !/\d/.test(row[last] ?? '')) last--;
  const found = Array.from(row.matchAll(LOOKALIKE)).filter(({ index }) => index <= last);
  return found.map(([one]) => one).filter((one) => /[lIoO|]/.test(one));
}

function readLookalikes(text: string): string {
  return text.replace(/[lI|]/g, '1').replace(/[oO]/g, '0');
}
