import { LANGUAGES, type Language, NUMBER_MARKS } from './language/language.ts';

/**
 * Largest amount of a transaction, commission, adjustment, opening or statement: ten trillion. Sums are signed BIGINTs,
 * which hold thousands of the largest amounts.
 */
export const AMOUNT_CENTS_MAX = 10n ** 15n;
/** Largest sum in a signed BIGINT of cents. */
const SUM_CENTS_MAX = 9_223_372_036_854_775_807n;
const AMOUNT = /^(0|[1-9]\d{0,17})(?:\.(\d{1,2}))?$/;
const SIGNED_AMOUNT = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,2})?$/;

/**
 * Parses a decimal text (`12`, `12.3`, `12.34`) to cents. Never rounds.
 * @returns undefined for more than two decimals, a sign, an exponent, a blank, or more than `AMOUNT_CENTS_MAX`.
 */
export function parseAmount(text: string): bigint | undefined {
  return parseCents(text, AMOUNT_CENTS_MAX);
}

function parseCents(text: string, max: bigint): bigint | undefined {
  const match = AMOUNT.exec(text);
  if (!match?.[1]) return undefined;
  const cents = BigInt(match[1]) * 100n + BigInt((match[2] ?? '').padEnd(2, '0'));
  return cents <= max ? cents : undefined;
}

/** Like parseAmount, with an optional leading `-`: for balances and adjustments that people enter. */
export function parseSignedAmount(text: string): bigint | undefined {
  return parseSignedCents(text, AMOUNT_CENTS_MAX);
}

/** Parses a sum that `formatAmount` wrote, up to the limit of the database. */
export function parseSum(text: string): bigint | undefined {
  return parseSignedCents(text, SUM_CENTS_MAX);
}

function parseSignedCents(text: string, max: bigint): bigint | undefined {
  if (!SIGNED_AMOUNT.test(text)) return undefined;
  const cents = parseCents(text.replace('-', ''), max);
  return cents !== undefined && text.startsWith('-') ? -cents : cents;
}

/** Formats cents as `-12.34`: always two decimals, a dot, no grouping. */
export function formatAmount(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Formats cents for people: `R$ 1.234,56`, in English `R$ 1,234.56`. */
export function formatMoney(cents: bigint, language: Language = 'pt-BR'): string {
  const [whole = '0', fraction = '00'] = formatAmount(cents < 0n ? -cents : cents).split('.');
  return `${cents < 0n ? '-' : ''}R$ ${groupThousands(whole, language)}${NUMBER_MARKS[language].decimal}${fraction}`;
}

/** `1.234.567`, in English `1,234,567`. */
export function groupThousands(digits: string, language: Language = 'pt-BR'): string {
  return digits.replace(/\B(?=(?:\d{3}){1,12}$)/g, NUMBER_MARKS[language].grouping);
}

const BLANKS = /[\s\u00A0\u2007\u202F]/g;
/** People type `01,50`; programs do not. */
const LEADING_ZEROS = /^(-?)0+(?=\d)/;
const TYPED_AMOUNT = {
  'pt-BR': /^-?(?:[1-9]\d{0,2}(?:\.\d{3})+(?=,)|\d+)(?:,\d{1,2})?$/,
  en: /^-?(?:[1-9]\d{0,2}(?:,\d{3})+(?=\.)|\d+)(?:\.\d{1,2})?$/,
} as const satisfies Record<Language, RegExp>;

/** Removes `R$` and the blanks around an amount; a minus is a hyphen, or the minus sign (U+2212) that our sheets print. */
function stripCurrency(text: string): string {
  const plain = text.replaceAll('\u2212', '-').replace(BLANKS, ' ').trim();
  const sign = plain.startsWith('-') ? '-' : '';
  const size = plain.slice(sign.length).trimStart();
  return sign + (size.toUpperCase().startsWith('R$') ? size.slice(2).trimStart() : size);
}

/** The language whose marks a typed amount has; none for another text. No text is an amount in both with other sums. */
function findLanguage(plain: string): Language | undefined {
  return LANGUAGES.find((language) => TYPED_AMOUNT[language].test(plain));
}

/** Whether a text is written as an amount, of any size. */
export function isTypedAmount(text: string): boolean {
  return findLanguage(stripCurrency(text)) !== undefined;
}

/**
 * Parses an amount that a person typed, in the marks of either language: `1.234,56` or `1,234.56`, with an optional `R$`,
 * `-` or `−` before it. `1.234` alone may be a thousand or a fraction: grouped digits need their cents.
 * @returns undefined for any other text, or for more than `AMOUNT_CENTS_MAX`.
 */
export function parseTypedAmount(text: string): bigint | undefined {
  const typed = stripCurrency(text);
  const language = findLanguage(typed);
  if (language === undefined) return undefined;
  const { decimal, grouping } = NUMBER_MARKS[language];
  const plain = typed.replaceAll(grouping, '').replace(decimal, '.');
  return parseSignedAmount(plain.replace(LEADING_ZEROS, '$1'));
}

/** The longest amount that is read, with blanks. */
const WRITTEN_CHARS_MAX = 40;
const DIGITS = /[\d.,]{1,40}/;
/** The sign of what stands before an amount, and after it, without blanks. */
const SIGNS_BEFORE = new Map<string, string>([
  ...(['', 'R$'] as const).map((text) => [text, ''] as const),
  ...(['-', '-R$', 'R$-'] as const).map((text) => [text, '-'] as const),
  ...(['+', '+R$', 'R$+'] as const).map((text) => [text, '+'] as const),
]);
const SIGNS_AFTER = new Map<string, string>([
  ['', ''],
  ...(['-', '(-)', 'D', 'DB'] as const).map((text) => [text, '-'] as const),
  ...(['+', '(+)', 'C', 'CR'] as const).map((text) => [text, '+'] as const),
]);

/** How a file writes decimals; `cents`: it writes none, and counts cents. */
export const DECIMAL_MARKS = ['comma', 'point', 'cents'] as const;
export type DecimalMark = (typeof DECIMAL_MARKS)[number];
const MARKED_AMOUNT: Record<DecimalMark, RegExp> = {
  comma: /^(?:\d{1,3}(?:\.\d{3}){1,5}|\d{1,18})(?:,\d{1,2})?$/,
  point: /^(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,18})(?:\.\d{1,2})?$/,
  cents: /^\d{1,18}$/,
};

/** Parses digits whose decimal mark is known: `1.234` with a comma is a thousand. */
function parseMarked(digits: string, mark: DecimalMark): bigint | undefined {
  if (!MARKED_AMOUNT[mark].test(digits)) return undefined;
  if (mark === 'cents') return BigInt(digits) <= AMOUNT_CENTS_MAX ? BigInt(digits) : undefined;
  const plain = mark === 'comma' ? digits.replaceAll('.', '').replace(',', '.') : digits.replaceAll(',', '');
  return parseAmount(plain.replace(LEADING_ZEROS, '$1'));
}

/** `isSigned`: it says whether it is above or below zero, also by `+` or `C`. */
export type WrittenAmount = { cents: bigint; isSigned: boolean };

/**
 * Parses an amount in a file of a person or a bank, in the marks of either language: with at most one sign, which is `-`, `+` or
 * U+2212 before or after it, `(49,90)`, or a suffix `D`, `C`, `DB`, `CR`, `(-)`, `(+)`; `R$` may stand before it.
 * @param mark of the file, if it is known.
 * @returns undefined for any other text, for two signs, and, without a mark, for `1.234` alone, which may be a thousand or a fraction.
 */
export function parseWrittenAmount(text: string, mark?: DecimalMark): WrittenAmount | undefined {
  if (text.length > WRITTEN_CHARS_MAX) return undefined;
  const plain = text.replace(BLANKS, ' ').replaceAll('\u2212', '-').trim();
  const { 0: digits, index } = DIGITS.exec(plain) ?? { 0: '', index: 0 };
  const squeeze = (part: string): string => part.replaceAll(' ', '').toUpperCase();
  let before = squeeze(plain.slice(0, index));
  let after = squeeze(plain.slice(index + digits.length));
  if (before.includes('(') && after === ')') [before, after] = [before.replace('(', '-'), ''];
  const [first, last] = [SIGNS_BEFORE.get(before), SIGNS_AFTER.get(after)];
  const amount = mark ? parseMarked(digits, mark) : parseTypedAmount(digits);
  if (first === undefined || last === undefined || amount === undefined || (first && last)) return undefined;
  const sign = first || last;
  return { cents: sign === '-' ? -amount : amount, isSigned: sign !== '' };
}

/** `1.234,56` with an optional leading `-`, as `parseTypedAmount` takes it. */
export function formatTypedAmount(cents: bigint, language: Language): string {
  return formatMoney(cents, language).replace('R$ ', '');
}
