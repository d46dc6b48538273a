/** Finds a person's values in a text, in any spelling and encoding. Pure. */

import { decodeHTML } from 'entities';
import { smallest } from '../lists.ts';
import { decodeBase64 } from './decode-text.ts';
import { foldName, limitCombiningMarks, NOT_ASCII, normalizeDocument, toAsciiDigits } from './fold-person.ts';

/** A shorter value occurs in other texts by chance: it matches only the whole text. */
export const SUBSTRING_CHARS_MIN = 5;
const PHONE_DIGITS_MIN = 10;
/** Levels of nested encoding: a URL in a URL's query in another URL, or base64 in base64. */
const ENCODED_MAX = 3;
/** Escape characters, and non-ASCII characters. */
const ESCAPED = /[%&+\\\0]|[^ -~\s]/;
/** A sentence with fractions, units and ligatures grows by less. */
const GROWTH_MAX = 2;
const GROWTH_CHARS_MAX = 100;
const COUNTRY = '55';
const DOCUMENT_CHARS_MAX = 32;
/** Lengths of a CPF and a CNPJ: only their owners can be forgotten. */
export const DOCUMENT_LENGTHS = new Set([11, 14]);
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Separators between a document's digits: a dot, a dash of any kind, spaces around it, quotes and a comma. */
const GAP = '[^0-9A-Za-z]{0,5}';
/** Tags separate digits and words. The bound keeps the search linear. */
const TAG = /<[^<>]{0,100}>/g;
const CPF_LENGTH = 11;
/** Digits of a CPF before its check digits, which follow from them. */
export const CPF_BASE_LENGTH = 9;
/** Matches nine digits that may be a CPF without its check digits. */
export const CPF_BASE = new RegExp(`(?<!\\d)(\\d{3})${GAP}(\\d{3})${GAP}(\\d{3})(?!\\d)`, 'g');
/** Lookaheads, so that overlapping candidates are all found. */
const DOCUMENT_SHAPES = [
  `(?<!\\d)(?=(\\d{3}${GAP}\\d{3}${GAP}\\d{3}${GAP}\\d{2})(?!\\d))`,
  `(?<!\\d)(?=(\\d{2}${GAP}\\d{3}${GAP}\\d{3}${GAP}\\d{4}${GAP}\\d{2})(?!\\d))`,
  `(?<![0-9A-Za-z])(?=([0-9A-Za-z]{2}${GAP}[0-9A-Za-z]{3}${GAP}[0-9A-Za-z]{3}${GAP}[0-9A-Za-z]{4}${GAP}\\d{2})(?![0-9A-Za-z]))`,
].map((shape) => new RegExp(shape, 'g'));

export type PersonMatcher = {
  isDocument: (text: string) => boolean;
  /** Whether the text contains the document, also within a longer number. */
  holdsDocument: (text: string) => boolean;
  /** Whether the text contains a CPF without its check digits. */
  holdsBase: (text: string) => boolean;
  isId: (text: string) => boolean;
  /** Whether the text contains the document, or a value that only this person has. */
  holdsOwnValue: (text: string) => boolean;
  /** Whether the text contains a value that others may share, or a CPF without its check digits: other numbers have nine digits too. */
  holdsSharedValue: (text: string) => boolean;
  /** Patterns of documents and phones. */
  patterns: RegExp[];
  /** Returns the places of the document in a text, as start and end. */
  findDocument: (text: string) => [number, number][];
};

export function createPersonMatcher(person: {
  documents: string[];
  ids: string[];
  own: string[];
  shared: string[];
}): PersonMatcher {
  const whole = person.documents.map(spellDocument);
  const bases = person.documents.filter((one) => one.length === CPF_LENGTH).map(spellBase);
  const spelled = [...whole, ...person.own.flatMap(spellPhone)];
  const documents = new Set(person.documents);
  const ids = new Set(person.ids.map((id) => id.toLowerCase()));
  const holdsOwn = createHolds(person.own);
  const holdsShared = createHolds(person.shared);
  const holdsAny = (patterns: RegExp[], text: string) => patterns.some((pattern) => text.search(pattern) >= 0);
  const read = listDecodedForms;
  return {
    isDocument: (text) => read(text).some((one) => documents.has(normalizeDocument(one) ?? '')),
    holdsDocument: (text) => read(text).some((one) => holdsAny(whole, one)),
    holdsBase: (text) => read(text).some((one) => holdsAny(bases, one)),
    isId: (text) => ids.has(text.toLowerCase()),
    holdsOwnValue: (text) => read(text).some((one) => holdsAny(spelled, one) || holdsOwn(one)),
    holdsSharedValue: (text) => read(text).some((one) => holdsAny(bases, one) || holdsShared(one)),
    patterns: [...spelled, ...bases],
    findDocument: (text) =>
      whole.flatMap((pattern) =>
        Array.from(text.matchAll(pattern), ({ 0: found, index }): [number, number] => [index, index + found.length]),
      ),
  };
}

function createHolds(values: string[]): (text: string) => boolean {
  const folded = values.map(foldName).filter((needle) => needle !== '');
  return (text) => {
    if (folded.length === 0) return false;
    const plain = foldName(text);
    return folded.some(
      (needle) => plain === needle || (needle.length >= SUBSTRING_CHARS_MIN && plain.includes(needle)),
    );
  };
}

/** @returns a pattern for a document with any punctuation, also inside a longer number: no other number has these digits by chance. */
function spellDocument(document: string): RegExp {
  return new RegExp([...document].join(GAP), 'gi');
}

/** @returns a pattern for a CPF without its check digits, not inside a longer number. */
function spellBase(cpf: string): RegExp {
  return new RegExp(`(?<!\\d)${[...cpf.slice(0, CPF_BASE_LENGTH)].join(GAP)}(?!\\d)`, 'g');
}

/** @returns a pattern for a phone with or without country code and leading zero; none if the value is no phone. */
function spellPhone(value: string): RegExp[] {
  const national = parsePhone(value);
  if (national === undefined) return [];
  const before = `(?:\\+?${COUNTRY}${GAP})?0?`;
  return [new RegExp(`(?<!\\d)${before}${[...national].join(GAP)}(?!\\d)`, 'g')];
}

/** @returns the digits of a phone without its country code; undefined if it is no phone. */
export function parsePhone(value: string): string | undefined {
  if (!/^[\d+()./\s-]+$/.test(value)) return undefined;
  const digits = value.replace(/\D/g, '');
  const national =
    digits.startsWith(COUNTRY) && digits.length >= COUNTRY.length + PHONE_DIGITS_MIN
      ? digits.slice(COUNTRY.length)
      : digits;
  return national.length < PHONE_DIGITS_MIN ? undefined : national;
}

/**
 * Returns a text and its decoded forms: JSON escapes, percent encoding, HTML entities, base64 and UTF-16, also nested; and
 * without HTML tags.
 */
export function listDecodedForms(text: string): readonly string[] {
  if (decoded.text !== text) {
    const readings = new Set<string>();
    addReadings(text, readings, ENCODED_MAX);
    decoded = { text, readings: [...readings] };
  }
  return decoded.readings;
}

/** A mask asks for the forms of one text three times, which is half of its time. */
let decoded: { text: string; readings: readonly string[] } = { text: '', readings: [''] };

/** Whether a text is many times as long once its characters are folded: `\uFDFA` becomes 18 letters. */
export function growsWhenFolded(text: string): boolean {
  return NOT_ASCII.test(text) && fold(text).length > GROWTH_MAX * text.length + GROWTH_CHARS_MAX;
}

function addReadings(text: string, readings: Set<string>, depth: number): void {
  const last = addEscaped(text, readings);
  for (const source of [text, last]) if (source.includes('<')) readings.add(source.replace(TAG, ' '));
  if (depth === 0) return;
  // percent encoding may contain base64, and a plus is a space only in form encoding
  for (const source of new Set([text, last])) {
    for (const decoded of decodeBase64(source)) if (!readings.has(decoded)) addReadings(decoded, readings, depth - 1);
  }
}

/** @returns the last decoded form: without escapes, or after ENCODED_MAX rounds. */
function addEscaped(text: string, readings: Set<string>): string {
  readings.add(text);
  if (!ESCAPED.test(text)) return text;
  let reading = fold(text);
  for (let round = 0; round < ENCODED_MAX; round++) {
    const unescaped = fold(readEscapes(reading));
    const decoded = fold(readEntities(readPercents(unescaped.replaceAll('+', ' ')))).replaceAll('\0', '');
    readings.add(unescaped).add(decoded);
    if (decoded === reading) break;
    reading = decoded;
  }
  return reading;
}

/** Normalizes the width of characters, the script of digits, and combining marks. */
function fold(text: string): string {
  return NOT_ASCII.test(text) ? toAsciiDigits(limitCombiningMarks(text).normalize('NFKC')) : text;
}

/** Decodes HTML entities, numeric and named. */
function readEntities(text: string): string {
  return text.includes('&') ? decodeHTML(text) : text;
}

function readEscapes(text: string): string {
  return (
    text
      // lookbehind: matching from each backslash of a run would take quadratic time
      .replace(/(?<!\\)\\+u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll('\\/', '/')
  );
}

function readPercents(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'));
}

/**
 * Yields possible documents of a text, normalized, and possible ids of transactions, in lower case.
 * @param readings the decoded forms of the text.
 */
export function* findCandidates(
  text: string,
  readings = listDecodedForms(text),
): Generator<{ document?: string; id?: string }, void, undefined> {
  // shorter than any document
  if (text.length < smallest(DOCUMENT_LENGTHS)) return;
  for (const one of readings) {
    const whole = one.length <= DOCUMENT_CHARS_MAX ? normalizeDocument(one) : null;
    if (whole !== null && DOCUMENT_LENGTHS.has(whole.length)) yield { document: whole };
    for (const shape of DOCUMENT_SHAPES) {
      for (const [, token = ''] of one.matchAll(shape)) yield { document: normalizeDocument(token) ?? token };
    }
    for (const [id] of one.matchAll(UUID)) yield { id: id.toLowerCase() };
  }
}
