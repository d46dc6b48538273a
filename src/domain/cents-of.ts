import { z } from 'zod';
import { AMOUNT_CENTS_MAX, formatAmount } from './money.ts';

export const NO_AMOUNT = `must be an amount such as 1234.56, with a point and at most two decimals, up to ${formatAmount(AMOUNT_CENTS_MAX)}`;

/** A transform of a zod schema: a decimal text to cents. @param message the fault where `parse` can't read the text. */
export function centsOf(parse: (text: string) => bigint | undefined, message = NO_AMOUNT) {
  return (value: string | number, context: z.RefinementCtx): bigint => {
    const cents = parse(String(value));
    if (cents !== undefined) return cents;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
}
