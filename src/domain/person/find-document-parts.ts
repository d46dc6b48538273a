/**
 * Finds parts of a document in a text: a partly starred one (`224.***.***-01`), or digits that the text calls its start or
 * end. Together with our own mask they would complete the number. Depends only on the form of the text, so that an unmasked
 * text rules out no document. Pure.
 */
import { foldName } from './fold-person.ts';
import { listDecodedForms } from './match-person.ts';

/** Characters that replace a digit. */
const STAR = '[*xX•●∙·∗#_?█■▪]';
/** Two or more stars, or three or more dots or dashes; not letters at the end of a word. */
const STARS = `(?:(?<!\\p{L})${STAR}(?:[./ -]{0,2}${STAR}){1,20}(?!\\p{L})|[.-]{3,20})`;
const GAP = '[./\\s-]{0,3}';
const STARRED = new RegExp(`\\d${GAP}${STARS}|${STARS}${GAP}\\d`, 'u');
/** A single star, or two dots, between digits. Signs that also separate ordinary numbers (`2026_11`, `10x20`): between three and two digits. */
const BETWEEN = new RegExp(`\\d${GAP}(?:[*•●∙·∗█■▪]|[.]{2})${GAP}\\d|(?<!\\d)\\d{3}${GAP}[xX#_?]${GAP}\\d{2}(?!\\d)`);
/** The form of a CPF or a CNPJ, whichever of its digits are starred; at least one digit and one star. */
const ONE = `(?:\\d|${STAR})`;
const SHAPE =
  `${ONE}{3}[. ]?${ONE}{3}[. ]?${ONE}{3}[- ]?${ONE}{2}` +
  `|${ONE}{2}[. ]?${ONE}{3}[. ]?${ONE}{3}[/ ]?${ONE}{4}[- ]?${ONE}{2}`;
const SHAPED = new RegExp(`(?<![\\p{L}\\d])(?=(${SHAPE})(?![\\p{L}\\d]))`, 'gu');
const HAS_STAR = new RegExp(STAR);
/** In a text with these words, any digit may belong to a document. */
const NAMES = /(?<![a-z])(?:c\.?p\.?f\.?|c\.?n\.?p\.?j\.?|documento)(?![a-z])/;
/** The bound on a word's end keeps the search linear. */
const ENDS =
  '(?:comec\\w{0,40}|inici\\w{0,40}|primeir\\w{0,40}|fim|final|finais|termin\\w{0,40}|ultim\\w{0,40}|digitos?|verificador\\w{0,40}|dv|start\\w{0,40}|first|begin\\w{0,40}|end|ends|ending|last)';
/** A number as long as a part of a document. */
const PART = '(?<!\\d)\\d{2,6}(?!\\d)';
const WORDED = new RegExp(`(?<![a-z])${ENDS}(?![a-z])\\D{0,20}${PART}|${PART}\\D{0,20}(?<![a-z])${ENDS}(?![a-z])`);

/** Whether a text shows some digits of a document and hides others, or calls digits a part of one. */
export function holdsDocumentParts(text: string): boolean {
  return listDecodedForms(text).some((reading) => {
    if (!/\d/.test(reading)) return false;
    if (STARRED.test(reading) || BETWEEN.test(reading) || isStarredShape(reading)) return true;
    const plain = foldName(reading);
    return NAMES.test(plain) || WORDED.test(plain);
  });
}

function isStarredShape(text: string): boolean {
  return Array.from(text.matchAll(SHAPED), ([, one = '']) => one).some((one) => HAS_STAR.test(one) && /\d/.test(one));
}
