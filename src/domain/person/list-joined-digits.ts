/** Joins the digits of a text that are separated by letters, such as `A224B538C323D01`. Pure. */

/** Numbers farther apart are not joined. Longer than the separator in `{"a":"224","b":"538"}`. */
const APART = /\D{13,}/;
/** UUIDs, hashes and timestamps: their digits belong to no person, and have the length of a document by chance. */
const IDS =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{20,}|\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?/gi;
const BLANK = ' '.repeat(13);
const HAS_LETTERS_BETWEEN = /\d\D*\p{L}\D*\d/u;
/** Numbers of parts, as in `p1=224 p2=538` and `1) 224 2) 538`. */
const LABELS = /\p{L}\d{1,2}(?=["']?\s?[=:])|(?<!\d)\d(?!\d)/gu;
/** Letters of the shape of digits, beside a digit. */
const LOOKALIKES = /(?=[lIoO|./-]*\d)[\dlIoO|][\dlIoO|./-]{7,16}[\dlIoO|]/g;
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
    .concat((plain.match(LOOKALIKES) ?? []).filter((one) => /[lIoO|]/.test(one)).map(readLookalikes))
    .map((one) => one.replace(/\D/g, ''));
  return [...new Set(joined)].filter((digits) => digits.length >= DIGITS_MIN);
}

function readLookalikes(text: string): string {
  return text.replace(/[lI|]/g, '1').replace(/[oO]/g, '0');
}
