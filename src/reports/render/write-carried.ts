import { fill } from '../../texts/fill.ts';
import { formatMonth } from '../../texts/reports/texts.ts';
import type { ClosedMonth, RangePlan } from '../plan/report-plan.ts';
import { type AccountBalance, isBalanceAccount, platformAccountSegment, splitAccount } from '../read/read-accounts.ts';
import type { SheetWriter } from '../xlsx/open-sheet.ts';
import type { Cell } from '../xlsx/render-cell.ts';
import type { FinishedTable } from './open-table.ts';
import { type Summary, startSection } from './start-section.ts';

/** How the balance of a closed month leads to the opening balance of the next one, in cents. */
export type Carried = {
  month: string;
  /** The closing balance that was handed in. */
  handedIn: bigint;
  /** Sum of Ajustes de meses anteriores, and the formula over that sheet. */
  adjusted: { cents: bigint; formula: string };
  /** Opening balances that people stated for the first day. */
  opened: bigint;
  opening: bigint;
};

const COLUMNS = 2;

/** @param balances of the file's own cut. */
export function listCarried(
  { base, platform }: RangePlan,
  balances: AccountBalance[],
  adjustments: FinishedTable,
): Carried | undefined {
  if (!base) return undefined;
  const own = balances.filter(({ account }) => isBalanceAccount(splitAccount(account).root));
  const sum = (pick: (one: AccountBalance) => bigint): bigint => own.reduce((all, one) => all + pick(one), 0n);
  const opened = sum((one) => one.opened);
  return {
    ...{ month: base.month, handedIn: sumHandedIn(base, platform), opened },
    adjusted: adjustments.totals.get('difference') ?? { cents: 0n, formula: '0' },
    opening: sum((one) => one.before) + opened,
  };
}

/** The closing balance of a closed month that was handed in, in cents. @param platform undefined: all. */
export function sumHandedIn({ balances }: ClosedMonth, platform: string | undefined): bigint {
  const segment = platform === undefined ? undefined : platformAccountSegment(platform);
  return balances
    .filter(({ account }) => {
      const { root, platform: of } = splitAccount(account);
      return isBalanceAccount(root) && (segment === undefined || of === segment);
    })
    .reduce((all, one) => all + one.closingCents, 0n);
}

/** Writes the section below the days: the balance that was handed in, what changed since, and the difference, which must be 0,00. */
export function writeCarried(sheet: SheetWriter, { texts }: Summary<RangePlan>, carried: Carried): void {
  const words = texts.period;
  startSection(sheet, words.carried, COLUMNS);
  const { month, handedIn, adjusted, opened, opening } = carried;
  const row = sheet.nextRow();
  const add = (label: string, cell: Cell): void => sheet.addRow([{ text: label, style: 'label' }, cell]);
  add(fill(words.handedIn, { month: formatMonth(month) }), { cents: handedIn });
  add(words.adjusted, adjusted);
  add(words.opened, { cents: opened });
  add(texts.summary.opening, { cents: opening });
  const difference = handedIn + adjusted.cents + opened - opening;
  add(texts.summary.difference, {
    ...{ cents: difference, formula: `ROUND(B${row}+B${row + 1}+B${row + 2}-B${row + 3},2)` },
    style: difference === 0n ? 'moneyGood' : 'moneyBad',
  });
}
