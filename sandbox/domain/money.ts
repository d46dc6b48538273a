const DECIMAL = /^(0|[1-9]\d{0,12})(?:\.(\d{1,2}))?$/;

/**
 * Parses a decimal text with a dot and at most two decimals, as JSON writes a number, into cents.
 * @returns null if it has a sign, an exponent, more decimals or more than 13 digits: it is never rounded.
 */
export function parseCents(text: string): bigint | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  return BigInt(match[1] ?? '0') * 100n + BigInt((match[2] ?? '').padEnd(2, '0'));
}

/** Formats cents with a dot and two decimals: -5n is `-0.05`. */
export function formatCents(cents: bigint): string {
  const absolute = cents < 0n ? -cents : cents;
  return `${cents < 0n ? '-' : ''}${absolute / 100n}.${String(absolute % 100n).padStart(2, '0')}`;
}

/** The provider's commission: basis points of the amount, rounded half up, plus a fixed part; at least the minimum. */
export type CommissionRule = { basis_points: number; fixed_cents: number; minimum_cents: number };

/** Returns the commission in cents. */
export function commissionOf(amountCents: bigint, rule: CommissionRule): bigint {
  const share = (amountCents * BigInt(rule.basis_points) + 5_000n) / 10_000n + BigInt(rule.fixed_cents);
  const minimum = BigInt(rule.minimum_cents);
  return share < minimum ? minimum : share;
}
