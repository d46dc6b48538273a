import { expect, test } from 'vitest';
import { PERIOD_WIDTHS } from '../../../src/reports/render/write-period-summary.ts';
import { SUMMARY_WIDTHS } from '../../../src/reports/render/write-summary.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';

test('a column of numbers of either summary is as wide as a moment: a spreadsheet shows a narrower one as ###', () => {
  for (const { number } of [SUMMARY_WIDTHS, PERIOD_WIDTHS])
    expect(number).toBeGreaterThan('dd/mm/yyyy hh:mm:ss'.length);
});

test.each(['pt-BR', 'en'] as const)(
  'the headings of mismatches in %s, in bold, are shorter than their columns',
  (language) => {
    const { period, columns } = textsOf(language);
    for (const text of [columns.atStake, period.own, period.ownAtStake])
      expect(text.length, text).toBeLessThan(0.85 * PERIOD_WIDTHS.number);
  },
);
