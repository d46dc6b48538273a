/** What in a text tells of a person, in whatever spelling it came. Pure. */
import { decodeHTML } from 'entities';
import { decodeBase64 } from './decode-text.ts';
import { foldName, limitCombiningMarks, normalizeDocument, toAsciiDigits } from './fold-person.ts';

/** A shorter value stands in too much else by chance: it is taken only where it is the whole. */
export const SUBSTRING_CHARS_MIN = 5;
const PHONE_DIGITS_MIN = 10;
/** An address within an address's query within another's; base64 within base64 likewise. */
const ENCODED_MAX = 3;
/** What encodes others, and what is not ASCII. */
const ESCAPED = /[%&+\\\0]|[^ -~\s]/;
const NOT_ASCII = /[^\0-\x7f]/;
const COUNTRY = '55';
const DOCUMENT_CHARS_MAX = 32;
/** A CPF's and a CNPJ's: no one else is forgotten. */
export const DOCUMENT_LENGTHS = new Set([11, 14]);
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** What people and programs write between a document's digits: a dot, a dash of any kind, spaces. */
const GAP = '[^0-9A-Za-z]{0,2}';
/** Looked for at each place, since one may begin within what looks like another. */
const DOCUMENT_SHAPES = [
  `(?<!\\d)(?=(\\d{3}${GAP}\\d{3}${GAP}\\d{3}${GAP}\\d{2})(?!\\d))`,
  `(?<!\\d)(?=(\\d{2}${GAP}\\d{3}${GAP}\\d{3}${GAP}\\d{4}${GAP}\\d{2})(?!\\d))`,
  `(?<![0-9A-Za-z])(?=([0-9A-Za-z]{2}${GAP}[0-9A-Za-z]{3}${GAP}[0-9A-Za-z]{3}${GAP}[0-9A-Za-z]{4}${GAP}\\d{2})(?![0-9A-Za-z]))`,
].map((shape) => new RegExp(shape, 'g'));

export type PersonMatcher = {
  isDocument: (text: string) => boolean;
  isId: (text: string) => boolean;
  /** Their document, or a value that is theirs alone, stands in it. */
  holdsOwnValue: (text: string) => boolean;
  /** One of the values that others may bear too stands in it. */
  holdsSharedValue: (text: string) => boolean;
  /** Documents and phones, wherever they stand. */
  patterns: RegExp[];
};

export function createPersonMatcher(person: {
  documents: string[];
  ids: string[];
  own: string[];
  shared: string[];
}): PersonMatcher {
  const spelled = [...person.documents.map(spellDocument), ...person.own.flatMap(spellPhone)];
  const documents = new Set(person.documents);
  const ids = new Set(person.ids.map((id) => id.toLowerCase()));
  const holdsOwn = createHolds(person.own);
  const holdsShared = createHolds(person.shared);
  const isSpelled = (text: string) => spelled.some((pattern) => text.search(pattern) >= 0);
  const read = rememberReadings();
  return {
    isDocument: (text) => read(text).some((one) => documents.has(normalizeDocument(one) ?? '')),
    isId: (text) => ids.has(text.toLowerCase()),
    holdsOwnValue: (text) => read(text).some((one) => isSpelled(one) || holdsOwn(one)),
    holdsSharedValue: (text) => read(text).some(holdsShared),
    patterns: spelled,
  };
}

/** One text is asked several things in a row. */
function rememberReadings(): (text: string) => string[] {
  let last: { text: string; readings: string[] } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, readings: listDecodedForms(text) };
    return last.readings;
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

/** However it is punctuated, where no longer number holds it. */
function spellDocument(document: string): RegExp {
  const more = /^\d+$/.test(document) ? '\\d' : '[0-9A-Za-z]';
  return new RegExp(`(?<!${more})${[...document].join(GAP)}(?!${more})`, 'gi');
}

/** With or without its country and a zero before it. What is no phone has no other spelling. */
function spellPhone(value: string): RegExp[] {
  const national = parsePhone(value);
  if (national === undefined) return [];
  const before = `(?:\\+?${COUNTRY}${GAP})?0?`;
  return [new RegExp(`(?<!\\d)${before}${[...national].join(GAP)}(?!\\d)`, 'g')];
}

/** A phone's digits without its country; undefined of what is no phone. */
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
 * A text as it is, and as whoever decodes it reads it: JSON's escapes, those of an address or of HTML, base64, UTF-16; one
 * within another too.
 */
export function listDecodedForms(text: string): string[] {
  const readings = new Set<string>();
  addReadings(text, readings, ENCODED_MAX);
  return [...readings];
}

function addReadings(text: string, readings: Set<string>, depth: number): void {
  const last = addEscaped(text, readings);
  if (depth === 0) return;
  // percent signs may hide base64, and a plus is a space only of a form
  for (const source of new Set([text, last])) {
    for (const decoded of decodeBase64(source)) if (!readings.has(decoded)) addReadings(decoded, readings, depth - 1);
  }
}

/** @returns the reading with no escapes left, or as many as are read. */
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

/** Characters of another width, digits of another script and marks after a letter in one form. */
function fold(text: string): string {
  return NOT_ASCII.test(text) ? toAsciiDigits(limitCombiningMarks(text).normalize('NFKC')) : text;
}

/** HTML's, by number and by name. */
function readEntities(text: string): string {
  return text.includes('&') ? decodeHTML(text) : text;
}

function readEscapes(text: string): string {
  return (
    text
      // from where a run of them begins: from each of them it would take the square of their number
      .replace(/(?<!\\)\\+u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll('\\/', '/')
  );
}

function readPercents(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'));
}

/** What in a text may be someone's document, normalized; and what may be a transaction's id, in lower case. */
export function* findCandidates(text: string): Generator<{ document?: string; id?: string }, void, undefined> {
  // shorter than any document
  if (text.length < Math.min(...DOCUMENT_LENGTHS)) return;
  for (const one of listDecodedForms(text)) {
    const whole = one.length <= DOCUMENT_CHARS_MAX ? normalizeDocument(one) : null;
    if (whole !== null && DOCUMENT_LENGTHS.has(whole.length)) yield { document: whole };
    for (const shape of DOCUMENT_SHAPES) {
      for (const [, token = ''] of one.matchAll(shape)) yield { document: normalizeDocument(token) ?? token };
    }
    for (const [id] of one.matchAll(UUID)) yield { id: id.toLowerCase() };
  }
}
