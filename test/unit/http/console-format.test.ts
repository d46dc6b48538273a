import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCalendar } from '../../../src/domain/calendar.ts';
import {
  formatAge,
  formatCount,
  formatDay,
  formatDuration,
  formatExactDuration,
  formatMoney,
  moment,
  shortenId,
} from '../../../src/http/console/parts/format.ts';
import { runInLanguage } from '../../../src/texts/language.ts';
import { propertyOptions } from '../../support/property.ts';

test.each([
  [0n, 'R$ 0,00'],
  [5n, 'R$ 0,05'],
  [123_456n, 'R$ 1.234,56'],
  [100_000_000n, 'R$ 1.000.000,00'],
  [-123_456n, '-R$ 1.234,56'],
  [9_223_372_036_854_775_807n, 'R$ 92.233.720.368.547.758,07'],
])('%s cents are formatted as %s', (cents, text) => {
  expect(formatMoney(cents)).toBe(text);
});

test('formatting loses no cent', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (cents) => {
      expect(BigInt(formatMoney(cents).replace(/[^\d-]/g, ''))).toBe(cents);
    }),
    propertyOptions(30, 300),
  );
});

test('an instant is formatted in the provider’s time zone, and a day as Brazil writes it', () => {
  const calendar = createCalendar('America/Sao_Paulo');
  expect(moment(calendar, '2026-11-22T02:30:00Z').text).toBe(
    '<time datetime="2026-11-22T02:30:00.000Z">21/11/2026 23:30:00</time>',
  );
  expect(formatDay('2026-11-05')).toBe('05/11/2026');
});

test('a duration is formatted in its largest unit', () => {
  expect([59, 60, 3599, 3600, 172_799, 172_800].map(formatDuration)).toEqual([
    '59 s',
    '1 min',
    '59 min',
    '1 h',
    '47 h',
    '2 d',
  ]);
  expect(formatAge(new Date(10_000), new Date(10_200))).toBe('agora');
});

test('an exact duration loses no second', () => {
  expect([0, 5, 90, 300, 5_400, 86_400].map(formatExactDuration)).toEqual([
    ...['0 s', '5 s', '90 s', '5 min', '90 min', '24 h'],
  ]);
});

test('an id is shortened after its prefix', () => {
  expect(shortenId('run_0123456789abcdef')).toBe('run_01234567…');
  expect(shortenId('6f9619ff-8b86-4d01-b42d-00cf4fc964ff')).toBe('6f9619ff…');
  expect(shortenId('cb_12')).toBe('cb_12');
});

test('in English, amounts, counts, dates and ages are written as English does', () => {
  const calendar = createCalendar('America/Sao_Paulo');
  const shown = runInLanguage('en', () => [
    formatMoney(-123_456n),
    formatCount(1_234_567),
    moment(calendar, '2026-11-22T02:30:00Z').text.replace(/<[^>]+>/g, ''),
    formatDay('2026-11-05'),
    formatAge(new Date(0), new Date(180_000)),
  ]);
  expect(shown).toEqual(['-R$ 1,234.56', '1,234,567', '21 Nov 2026 23:30:00', '5 Nov 2026', '3 min ago']);
});
