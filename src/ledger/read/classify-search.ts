/**
 * Classifies a text of the search box. A text can have several readings: `1234` is a reference, an extra, the beginning
 * of an id, and an amount. All of them are searched for, and the page lists them. Pure.
 */
import { type Day, isDay } from '../../domain/calendar.ts';
import { parseE2eId } from '../../domain/e2e-id.ts';
import { isUuid } from '../../domain/ids.ts';
import { findMonth, LANGUAGES, type Language, NUMBER_MARKS } from '../../domain/language/language.ts';
import { parseAmount, parseTypedAmount } from '../../domain/money.ts';
import { isValidDocument } from '../../domain/person/find-documents.ts';
import { normalizeDocument } from '../../domain/person/fold-person.ts';
import { splitWords } from '../../domain/person/split-words.ts';

export const SEARCH_KINDS = ['id', 'e2e_id', 'reference', 'extra', 'document', 'words', 'amount', 'day'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

export type Reading =
  /** `id`: an id or its beginning, in lower case. `document`: in any spelling. `words`: their beginnings. */
  | { kind: 'id' | 'e2e_id' | 'reference' | 'extra' | 'document' | 'words'; text: string }
  /** A negative amount is money that leaves: the amount of a cashout. */
  | { kind: 'amount'; cents: bigint; operation?: 'cashout' }
  | { kind: 'day'; day: Day };

/** Why a text has no reading. */
export type SearchFault = 'too_long' | 'no_such_day' | 'no_amount' | 'amount_too_large';

export type Classified = { readings: Reading[]; fault?: SearchFault };

export const SEARCH_CHARS_MAX = 512;
/** A search has an index read for each word. */
export const SEARCH_WORDS_MAX = 8;
/** A longer number without a comma is no amount: it is a document, a phone or an order. */
const BARE_AMOUNT_DIGITS_MAX = 9;

const LOCAL_DAY = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;
const YEARLESS_DAY = /^(\d{1,2})\/(\d{1,2})$/;
const LEAP_YEARS_APART_MAX = 8;
const ISO_DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_FORMS = /(?<!\S)(?:\d{1,2}\/\d{1,2}\/\d{4}|\d{4}-\d\d-\d\d)(?!\S)/g;
/** `22 Nov 2026`, `22 nov 2026`, `22 de novembro de 2026`. */
const NAMED_DAY = /^(\d{1,2}) (?:de )?(\p{L}{3,9})\.? (?:de )?(\d{4})$/iu;
const RANGE_START = /^(?:de|entre|from|between) /i;
const RANGE_MARK = / (?:a|até|ate|e|to|and|[-–]) /i;
const DASHED = / [-–] /;
const CURRENCY = /^(-?)\s*R\$\s*(-?)(.*)$/i;
/** Digits with the marks of a language: `1.234,56`, in English `1,234.56`. */
const GROUPED = {
  'pt-BR': /^(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d{1,2})?$/,
  en: /^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d{1,2})?$/,
} as const satisfies Record<Language, RegExp>;
/** Cents with the decimal mark of the other language, which no grouping has. */
const OTHER_DECIMAL = { 'pt-BR': /^\d+\.\d{2}$/, en: /^\d+,\d{2}$/ } as const satisfies Record<Language, RegExp>;
/** A UUID, or what it begins with. */
const ID = /^[0-9a-f]{4,8}(?:(?<=[0-9a-f]{8})-[0-9a-f-]{0,27})?$/i;
const E2E_ID = /^[ED][0-9A-Za-z]{31}$/;
const DOCUMENT = /^[\d.\-/\s]+$/;
const CNPJ = /^[0-9A-Z]{2}\.?[0-9A-Z]{3}\.?[0-9A-Z]{3}\/?[0-9A-Z]{4}-?\d{2}$/i;
const DOCUMENT_LENGTHS: readonly number[] = [11, 14];

/** Returns the readings of a text, the most specific first; none for a blank text. @param language how amounts are written. */
export function classifySearch(typed: string, language: Language = 'pt-BR'): Classified {
  const text = typed
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/^(R\$ ?)?\u2212/i, '$1-');
  if (text === '') return { readings: [] };
  if (text.length > SEARCH_CHARS_MAX) return { readings: [], fault: 'too_long' };
  return readDay(text) ?? readAmount(text, language) ?? { readings: listTextReadings(text, typed.trim(), language) };
}

/** The reading of a text that has the form of a day; undefined for another text. */
function readDay(text: string): Classified | undefined {
  const iso = ISO_DAY.test(text) ? text : toIsoDay(text);
  if (iso === undefined) return undefined;
  return isDay(iso) ? { readings: [{ kind: 'day', day: iso }] } : { readings: [], fault: 'no_such_day' };
}

/** The parts of a text of the box beside its words: amounts from and to, days from and to, and money that leaves. */
export type SplitSearch = { words: string; amounts?: [string, string]; days?: [Day, Day]; operation?: 'cashout' };

/** Words of `22 de novembro de 2026`. */
const PART_WORDS_MAX = 5;
const MARKED_AMOUNT = /^(-?)(R\$)?(-?)([\d.,]+)$/i;
const CENTS = /(?:,\d{1,2}|\.\d{2})$/;

/**
 * Splits a text such as `Maria 25/11/2026 R$ 442,26` into its words, an amount or a range of them, and a day or several.
 * @param today also a day without its year is one.
 * @returns undefined for a text of words alone, of one amount alone, or of which it is unclear what is meant.
 */
export function splitSearch(typed: string, today?: Day): SplitSearch | undefined {
  const { parts, words, areSeveral } = takeParts(typed, today);
  const [first] = parts;
  if (first === undefined || areSeveral || (words !== '' && !areWords(words))) return undefined;
  const isAmount = parts.length === 1 && first.amounts !== undefined && first.amounts[0] === first.amounts[1];
  return words === '' && isAmount ? undefined : Object.assign({ words }, ...parts);
}

/** The parts of a text that were read as words all the same: several amounts or days, and texts that are no days. */
export function findDoubts(typed: string, today?: Day): { areSeveral: boolean; wrongDays: string[] } {
  const { words, areSeveral } = takeParts(typed, today);
  return { areSeveral, wrongDays: (words.match(DAY_FORMS) ?? []).filter((one) => readDay(one)?.fault) };
}

/** Takes the amounts and days out of a text; none out of one that is too long. */
function takeParts(typed: string, today?: Day) {
  const text = typed
    .slice(0, SEARCH_CHARS_MAX + 1)
    .replace(/\s+/gu, ' ')
    .trim();
  if (text.length > SEARCH_CHARS_MAX) return { parts: [], words: text, areSeveral: false };
  const left = text
    .replaceAll('\u2212', '-')
    .replace(/R\$ (?=-?\d)/gi, 'R$')
    .split(' ');
  const isAlone = (size: number): boolean => size === left.length;
  const parts: Part[] = [];
  for (let size = Math.min(PART_WORDS_MAX, left.length); size > 0; size--) {
    for (let at = 0; at + size <= left.length; at++) {
      const part = readPart(left.slice(at, at + size).join(' '), isAlone(size), today);
      if (part === undefined) continue;
      parts.push(part);
      left.splice(at, size);
      at--;
    }
  }
  const areSeveral = (['amounts', 'days'] as const).some((name) => parts.filter((one) => one[name]).length > 1);
  return { parts, words: left.join(' '), areSeveral };
}

type Part = Omit<SplitSearch, 'words'>;
/** The part of a text that is a range of amounts, a day, several days, or an amount with its currency or cents. */
function readPart(part: string, isAlone: boolean, today?: Day): Part | undefined {
  const range = isAlone || /R\$|[.,]\d/i.test(part) ? findAmountRange(part) : undefined;
  if (range) return { amounts: range };
  const ends = part.replace(RANGE_START, '').split(RANGE_MARK);
  const days = [part, ...(ends.length === 2 ? ends : [])].map((one) => findDay(one, today));
  const [day, from, to] = days;
  if (day) return { days: [day, day] };
  if (from && to) return { days: [from, to] };
  const [, before, currency, after, digits = ''] = MARKED_AMOUNT.exec(part) ?? [];
  if (!(currency || CENTS.test(digits)) || parseTypedAmount(digits) === undefined) return undefined;
  return { amounts: [digits, digits], ...(before || after ? { operation: 'cashout' } : {}) };
}

function findDay(text: string, today?: Day): Day | undefined {
  const [reading] = readDay(text)?.readings ?? [];
  return reading?.kind === 'day' ? reading.day : today && findYearlessDay(text, today);
}

/** The last day up to today that is written as `26/11`; undefined for another text. */
function findYearlessDay(text: string, today: Day): Day | undefined {
  const [, day = '', month] = YEARLESS_DAY.exec(text.trim()) ?? [];
  if (month === undefined) return undefined;
  const end = `-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const years = Array.from({ length: LEAP_YEARS_APART_MAX + 1 }, (_, back) => Number(today.slice(0, 4)) - back);
  return years.map((year) => `${year}${end}`).find((one) => isDay(one) && one <= today);
}

/** The two amounts of `190,00 a 200,00`, as they are typed; undefined for another text. Between hyphens they need their cents. */
function findAmountRange(text: string): [string, string] | undefined {
  const [from = '', to = '', ...others] = text.replace(/\s+/gu, ' ').trim().replace(RANGE_START, '').split(RANGE_MARK);
  const isAmountOfRange = (one: string) =>
    parseTypedAmount(one) !== undefined && (!DASHED.test(text) || /[.,]\d/.test(one));
  return others.length === 0 && [from, to].every(isAmountOfRange) ? [from, to] : undefined;
}

/** `22/11/2026` and `22 Nov 2026` as `2026-11-22`, which may be no day; undefined for another text. */
function toIsoDay(text: string): string | undefined {
  const [, day = '', month = '', year] = LOCAL_DAY.exec(text) ?? NAMED_DAY.exec(text) ?? [];
  const number = /^\d/.test(month) ? month : findMonth(month);
  if (year === undefined || number === undefined) return undefined;
  return `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** The reading of a text that can only be an amount: it has a currency, cents or a sign. Undefined for another text. */
function readAmount(text: string, language: Language): Classified | undefined {
  const [, before = '', after = '', rest] = CURRENCY.exec(text) ?? [];
  const hasCurrency = rest !== undefined;
  const [, sign, digits = ''] = hasCurrency ? [text, before || after, rest.trim()] : (/^(-?)(.*)$/.exec(text) ?? []);
  if (!isAmount(digits, language)) return hasCurrency ? { readings: [], fault: 'no_amount' } : undefined;
  const hasCents = GROUPED[language].test(digits) && digits.includes(NUMBER_MARKS[language].decimal);
  if (!hasCurrency && !hasCents && (!sign || !hasFewDigits(digits))) return undefined;
  const cents = parseDigits(digits, language);
  if (cents === undefined) return { readings: [], fault: 'amount_too_large' };
  return { readings: [{ kind: 'amount', cents, ...(sign === '-' ? { operation: 'cashout' } : {}) }] };
}

function isAmount(digits: string, language: Language): boolean {
  return GROUPED[language].test(digits) || OTHER_DECIMAL[language].test(digits);
}

/** @returns undefined for an amount above AMOUNT_CENTS_MAX. */
function parseDigits(digits: string, language: Language): bigint | undefined {
  const { grouping, decimal } = NUMBER_MARKS[language];
  const plain = OTHER_DECIMAL[language].test(digits)
    ? digits.replace(grouping, '.')
    : digits.replaceAll(grouping, '').replace(decimal, '.');
  return parseAmount(plain.replace(/^0+(?=\d)/, ''));
}

function hasFewDigits(text: string): boolean {
  return text.replace(/\D/g, '').length <= BARE_AMOUNT_DIGITS_MAX;
}

/**
 * The readings of a text that is neither a day nor surely an amount. Any text may be a reference or an extra.
 * @param exact the text with its own spaces, as a reference may have them.
 */
function listTextReadings(text: string, exact: string, language: Language): Reading[] {
  const readings: Reading[] = [];
  // a shorter beginning than four digits is shared by thousands of transactions
  if (ID.test(text)) readings.push({ kind: 'id', text: text.toLowerCase() });
  if (E2E_ID.test(text)) readings.push({ kind: 'e2e_id', text });
  readings.push({ kind: 'reference', text: exact }, { kind: 'extra', text: exact });
  if (isDocument(text)) readings.push({ kind: 'document', text });
  if (!isUuid(text) && !E2E_ID.test(text) && areWords(text)) readings.push({ kind: 'words', text });
  const cents = hasFewDigits(text) && isAmount(text, language) ? parseDigits(text, language) : undefined;
  if (cents !== undefined) readings.push({ kind: 'amount', cents });
  return readings;
}

/** Digits of a CPF's or CNPJ's length; with letters, only what is written or checks as a CNPJ. */
function isDocument(text: string): boolean {
  const plain = normalizeDocument(text) ?? '';
  if (!DOCUMENT_LENGTHS.includes(plain.length)) return false;
  return DOCUMENT.test(text) || (CNPJ.test(text) && (text.includes('/') || isValidDocument(plain)));
}

/** Whether a text has words to search by, and not too many. */
export function areWords(text: string): boolean {
  const { length } = splitWords([text], SEARCH_WORDS_MAX + 1);
  return length > 0 && length <= SEARCH_WORDS_MAX;
}

/**
 * Whether a text of the box can stand in an address: a day, an amount, a random id or its beginning. Any other text may
 * hold a name or a document, and addresses are stored by browsers and proxies.
 */
export function namesNobody(typed: string): boolean {
  const text = typed.trim();
  if (isUuid(text)) return true;
  if (parseE2eId(text) !== undefined) return !SIX_DIGITS.test(text.slice(-E2E_OWN_CHARS));
  if (isBeginningOfId(text)) return !SIX_DIGITS.test(text.replaceAll('-', ''));
  const isPlain = LANGUAGES.some((language) => {
    const [reading, ...others] = classifySearch(text, language).readings;
    return others.length === 0 && (reading?.kind === 'day' || reading?.kind === 'amount');
  });
  return isPlain && text.replace(/\D/g, '').length < CPF_DIGITS;
}

const CPF_DIGITS = 11;
const ID_PLAIN_CHARS_MIN = 8;
const E2E_OWN_CHARS = 11;
/** As many as a masked CPF shows. */
const SIX_DIGITS = /\d{6}/;

/** Eight hexadecimal digits and what may follow them in a UUID, with a letter and a digit: no number and no name. */
function isBeginningOfId(text: string): boolean {
  return ID.test(text) && text.length >= ID_PLAIN_CHARS_MIN && /[a-f]/i.test(text) && /\d/.test(text);
}
