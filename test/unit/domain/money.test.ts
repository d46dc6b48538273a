import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LANGUAGES } from '../../../src/domain/language/language.ts';
import {
  AMOUNT_CENTS_MAX,
  formatAmount,
  formatMoney,
  formatTypedAmount,
  parseAmount,
  parseSignedAmount,
  parseSum,
  parseTypedAmount,
} from '../../../src/domain/money.ts';
import { anyCharacter, propertyOptions } from '../../support/property.ts';

const SUM_CENTS_MAX = 9_223_372_036_854_775_807n;

test('what is formatted parses back to the same cents, up to the largest that is taken', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, AMOUNT_CENTS_MAX), (cents) => {
      expect(parseAmount(formatAmount(cents))).toBe(cents);
      expect(parseSignedAmount(formatAmount(-cents))).toBe(-cents);
    }),
    propertyOptions(30, 300),
  );
});

test('a sum parses back up to the largest that the database holds', () => {
  fc.assert(
    fc.property(fc.bigInt(-SUM_CENTS_MAX, SUM_CENTS_MAX), (cents) => {
      expect(parseSum(formatAmount(cents))).toBe(cents);
    }),
    propertyOptions(30, 300),
  );
  expect(parseSum('92233720368547758.08')).toBeUndefined();
});

test('what parses is formatted as the same decimal, written with two places', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 12n), fc.option(fc.stringMatching(/^\d{1,2}$/)), (whole, decimals) => {
      const text = decimals === null ? `${whole}` : `${whole}.${decimals}`;
      expect(formatAmount(parseAmount(text) ?? -1n)).toBe(`${whole}.${(decimals ?? '').padEnd(2, '0')}`);
    }),
    propertyOptions(30, 300),
  );
});

test('no text that a person would not call an amount is one', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      fc.pre(!/^(0|[1-9][0-9]*)(\.[0-9]{1,2})?$/.test(text));
      expect(parseAmount(text)).toBeUndefined();
    }),
    propertyOptions(30, 300),
  );
});

test.each([
  ['three decimals', '1.001'],
  ['three decimals that are zero', '1.000'],
  ['a sign', '-1.00'],
  ['a plus', '+1.00'],
  ['an exponent', '1e2'],
  ['a capital exponent', '1E2'],
  ['nothing', ''],
  ['a blank', ' '],
  ['a leading blank', ' 1.00'],
  ['a trailing blank', '1.00 '],
  ['a trailing newline', '1.00\n'],
  ['not a number', 'NaN'],
  ['infinity', 'Infinity'],
  ['a decimal comma', '1,00'],
  ['grouping', '1.000.00'],
  ['a bare dot', '1.'],
  ['no whole part', '.50'],
  ['a leading zero', '01.00'],
  ['hexadecimal', '0x10'],
  ['an underscore', '1_000'],
  ['digits of another script', '١٢'],
  ['a cent over the largest', '10000000000000.01'],
  ['a number of a hundred digits', '9'.repeat(100)],
])('%s is refused, never rounded', (_, text) => {
  expect(parseAmount(text)).toBeUndefined();
});

test('a stated balance may be negative, and is refused where an amount is', () => {
  expect(parseSignedAmount('-0.01')).toBe(-1n);
  expect(parseSignedAmount('12')).toBe(1200n);
  expect(parseSignedAmount('-0')).toBe(0n);
  expect(parseSignedAmount('-10000000000000.01')).toBeUndefined();
  for (const text of ['--1', '- 1', '1-', '-1.001', '-', '+1', '-1e2']) expect(parseSignedAmount(text)).toBeUndefined();
});

test('an amount of less than a real keeps its zeros', () => {
  expect([0n, 1n, 10n, 99n, 100n, -1n, -100n].map(formatAmount)).toEqual([
    '0.00',
    '0.01',
    '0.10',
    '0.99',
    '1.00',
    '-0.01',
    '-1.00',
  ]);
});

test.each(LANGUAGES)('an amount typed in %s parses back to its cents', (language) => {
  fc.assert(
    fc.property(fc.bigInt(-AMOUNT_CENTS_MAX, AMOUNT_CENTS_MAX), (cents) => {
      expect(parseTypedAmount(formatTypedAmount(cents, language))).toBe(cents);
      expect(parseTypedAmount(formatMoney(cents, language))).toBe(cents);
    }),
    propertyOptions(30, 300),
  );
});

test.each([
  ['1.234', undefined],
  ['1,234', undefined],
  ['1.234,5', 123_450n],
  ['1,234.50', 123_450n],
  ['12,34', 1_234n],
  ['12.34', 1_234n],
  ['-1234', -123_400n],
  ['\u22121234', -123_400n],
  ['\u22121.234,50', -123_450n],
  ['R$ 20,00', 2_000n],
  [' r$\u00A027.08 ', 2_708n],
  ['-R$ 49,90', -4_990n],
  ['R$ -49,90', -4_990n],
  ['- R$49,90', -4_990n],
  ['R$', undefined],
  ['R$ R$ 1', undefined],
  ['-R$ -1', undefined],
  ['1 000', undefined],
  ['\u2212-1', undefined],
  ['1\u2212', undefined],
  ['01,50', 150n],
  ['-007', -700n],
  ['0.123,45', undefined],
  ['1.23,45', undefined],
  ['1,234,56', undefined],
  ['1.234.56', undefined],
])('%s is %s cents in a page of any language: grouped digits need their cents', (text, cents) => {
  expect(parseTypedAmount(text)).toBe(cents);
});
