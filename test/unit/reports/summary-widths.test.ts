import { expect, test } from 'vitest';
import { PERIOD_WIDTHS } from '../../../src/reports/render/write-period-summary.ts';
import { SUMMARY_WIDTHS } from '../../../src/reports/render/write-summary.ts';

test('a column of numbers of either summary is as wide as a moment: a spreadsheet shows a narrower one as ###', () => {
  for (const { number } of [SUMMARY_WIDTHS, PERIOD_WIDTHS])
    expect(number).toBeGreaterThan('dd/mm/yyyy hh:mm:ss'.length);
});
