/** The largest amount that fits a signed BIGINT of cents. */
const CENTS_MAX = 9_223_372_036_854_775_807n;
const AMOUNT = /^(0|[1-9]\d{0,17})(?:\.(\d{1,2}))?$/;
const SIGNED_AMOUNT = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,2})?$/;

/**
 * Cents of a decimal text (`12`, `12.3`, `12.34`). More than two decimals, a sign, an exponent or any blank is no
 * amount: refused, never rounded.
 * @returns undefined when the text is no amount.
 */
export function parseAmount(text: string): bigint | undefined {
  const match = AMOUNT.exec(text);
  if (!match?.[1]) return undefined;
  const cents = BigInt(match[1]) * 100n + BigInt((match[2] ?? '').padEnd(2, '0'));
  return cents <= CENTS_MAX ? cents : undefined;
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
  if (!SIGNED_AMOUNT.test(text)) return undefined;
  const cents = parseAmount(text.replace('-', ''));
  return cents !== undefined && text.startsWith('-') ? -cents : cents;
}

/** `-12.34`: always two decimals, a dot, no grouping. */
export function formatAmount(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
