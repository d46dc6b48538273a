import { fill } from '../../texts/fill.ts';
import { SHARE_LINES, sumShares } from '../orders/share-receipts.ts';
import type { AnyPlan } from '../plan/report-plan.ts';
import { sumPlatformTotals } from '../read/create-tally.ts';
import type { SheetWriter } from '../xlsx/open-sheet.ts';
import { type Cell, columnName } from '../xlsx/render-cell.ts';
import { type Summary, startSection } from './start-section.ts';
import { addHeads, checkCell } from './write-summary-balance.ts';

/**
 * Writes how much of the receipts is of orders, with its checks against the balance and the sheet; nothing where nothing was expected.
 * @param receiptsRow of the balance, whose columns are the same.
 */
export function writeReceiptShares(sheet: SheetWriter, summary: Summary<AnyPlan>, receiptsRow: number): void {
  const { shares, tables, texts, plan, platforms } = summary;
  if (!shares) return;
  const names = [...platforms.keys()].sort();
  const receipts = [
    ...names.map((name) => platforms.get(name)?.receipts ?? 0n),
    sumPlatformTotals(platforms.values()).receipts,
  ];
  const { orders: words, summary: general } = texts;
  startSection(sheet, words.title, names.length + 2);
  addHeads(sheet, summary, names);
  const total = sumShares(shares.platforms);
  const nothing = sumShares(new Map());
  const all = [...names.map((name) => shares.platforms.get(name) ?? nothing), total];
  const [first, last] = [sheet.nextRow(), sheet.nextRow() + SHARE_LINES.length - 1];
  for (const [index, line] of SHARE_LINES.entries()) {
    const row = first + index;
    const cells = all.map((one, column): Cell => {
      const isTotal = column === names.length && names.length > 0;
      return { cents: one[line], ...(isTotal ? { formula: `SUM(B${row}:${columnName(column)}${row})` } : {}) };
    });
    sheet.addRow([{ text: words[line], style: 'label' }, ...cells]);
  }
  const sums = all.map((one) => SHARE_LINES.reduce((sum, line) => sum + one[line], 0n));
  const put = (label: string, cells: Cell[], style: 'label' | 'labelBold' = 'label'): void =>
    sheet.addRow([{ text: label, style }, ...cells]);
  put(
    words.sum,
    sums.map((cents, index): Cell => {
      const letter = columnName(index + 1);
      return { cents, style: 'moneyTotal', formula: `SUM(${letter}${first}:${letter}${last})` };
    }),
    'labelBold',
  );
  const differences = sums.map((cents, index) => {
    const letter = columnName(index + 1);
    return checkCell((receipts[index] ?? 0n) - cents, `ROUND(${letter}${receiptsRow}-${letter}${last + 1},2)`);
  });
  put(general.difference, differences);
  const blank = names.map((): Cell => ({ text: null, style: 'label' }));
  const listed = tables.unidentified?.totals.get('unidentified') ?? { cents: 0n, formula: '0' };
  const row = sheet.nextRow();
  put(words.sheet, [...blank, listed]);
  const letter = columnName(names.length + 1);
  const difference = checkCell(
    listed.cents - total.unidentified,
    `ROUND(${letter}${row}-${letter}${first + SHARE_LINES.indexOf('unidentified')},2)`,
  );
  put(general.difference, [...blank, difference]);
  const { unreported } = shares;
  if (unreported && unreported.count > 0 && 'days' in plan) {
    put(fill(words.unreported, { count: unreported.count }), [...blank, { cents: unreported.cents }]);
    sheet.addRow([{ text: words.unreportedText, style: 'hint' }]);
  }
  const { undecidedSince } = shares.orders;
  if (undecidedSince === null) return;
  const moment = plan.calendar.toWallTime(new Date(undecidedSince));
  sheet.addRow([
    { text: words.undecided, style: 'bad' },
    { moment, style: 'momentRight' },
  ]);
}
