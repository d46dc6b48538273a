import { expect, test } from 'vitest';
import { z } from 'zod';
import { centsOf } from '../../../src/domain/cents-of.ts';
import { parseAmount } from '../../../src/domain/money.ts';

const schema = z
  .object({ amount: z.union([z.string(), z.number()]).transform(centsOf(parseAmount, 'is no amount')) })
  .refine(({ amount }) => amount > 0n, { path: ['amount'], error: 'must not be zero' });

test('an amount is parsed to cents', () => {
  expect(schema.parse({ amount: '12.34' })).toEqual({ amount: 1234n });
  expect(schema.parse({ amount: 12.3 })).toEqual({ amount: 1230n });
});

test('a text that is no amount is one fault, and never the amount 0', () => {
  for (const amount of ['x', '1.234', '-1.00', '', 1e21]) {
    const { success, data, error } = schema.safeParse({ amount });
    expect([success, data]).toEqual([false, undefined]);
    expect(error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`)).toEqual(['amount is no amount']);
  }
});
