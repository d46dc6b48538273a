import { z } from 'zod';

/** A transform of a zod schema: a decimal text to cents. @param message the fault where `parse` can't read the text. */
export function centsOf(parse: (text: string) => bigint | undefined, message: string) {
  return (value: string | number, context: z.RefinementCtx): bigint => {
    const cents = parse(String(value));
    if (cents !== undefined) return cents;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
}
