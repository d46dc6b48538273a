/**
 * The largest amount that one transaction, commission, adjustment, opening or statement may have: ten trillion. Sums
 * are kept in signed BIGINTs, which thousands of the largest still fit.
 */
export const AMOUNT_CENTS_MAX = 10n ** 15n;
/** The largest sum that a signed BIGINT of cents holds. */
const SUM_CENTS_MAX = 9_223_372_036_854_775_807n;
const AMOUNT = /^(0|[1-9]\d{0,17})(?:\.(\d{1,2}))?$/;
const SIGNED_AMOUNT = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,2})?$/;

/**
 * Cents of a decimal text (`12`, `12.3`, `12.34`). More than two decimals, a sign, an exponent, any blank or more than
 * `AMOUNT_CENTS_MAX` is no amount: refused, never rounded.
 * @returns undefined when the text is no amount.
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

/** A double keeps every decimal of so many digits; a longer one may have been rounded before it reached us. */
const EXACT_DIGITS = 15;

/** Cents of a JSON number, by the shortest text that means it; one too long to have come through unrounded is none. */
export function parseAmountNumber(value: number): bigint | undefined {
  const text = String(value);
  return text.replace('.', '').length <= EXACT_DIGITS ? parseAmount(text) : undefined;
}

/** The same with an optional leading `-`: for balances and adjustments that people state. */
export function parseSignedAmount(text: string): bigint | undefined {
  return parseSignedCents(text, AMOUNT_CENTS_MAX);
}

/** The same of a sum of ours, as `formatAmount` wrote it: as large as the database holds. */
export function parseSum(text: string): bigint | undefined {
  return parseSignedCents(text, SUM_CENTS_MAX);
}

function parseSignedCents(text: string, max: bigint): bigint | undefined {
  if (!SIGNED_AMOUNT.test(text)) return undefined;
  const cents = parseCents(text.replace('-', ''), max);
  return cents !== undefined && text.startsWith('-') ? -cents : cents;
}

/** `-12.34`: always two decimals, a dot, no grouping. */
export function formatAmount(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
