import { type SheetRow, UnreadableFileError } from '../../spreadsheet/row.ts';
import type { Texts } from '../../texts/reports/texts.ts';
import { SHARE_LINES } from '../orders/share-receipts.ts';
import { parseCell } from './collect-table.ts';

/** The lines that move a balance. Resumo of a day has no `openings`. */
const MOVING = ['receipts', 'commissionIn', 'payments', 'commissionOut', 'refundsMade', 'refundsReceived'] as const;
export const MOVING_LINES = [...MOVING, 'adjustments', 'openings'] as const;
const LINES = ['opening', ...MOVING_LINES, 'closing', 'held', 'ledger'] as const;
/** Lines that the files of some days lack. */
const OPTIONAL: readonly string[] = ['openings', ...SHARE_LINES];
/** The cells of a day's row on Resumo do período. */
const DAY_CELLS = {
  ...{ opening: 1, receipts: 2, commissions: 3, payments: 4, refundsMade: 5, refundsReceived: 6 },
  ...{ adjustments: 7, closing: 8, held: 9 },
};

/** The balances that Resumo shows, in cents: a number for each platform, and the total last. */
export type CollectedSummary = {
  lines: Record<(typeof LINES)[number] | (typeof SHARE_LINES)[number], bigint[]>;
  /** Days of a range. */
  days: Record<keyof typeof DAY_CELLS, bigint>[];
};

/** @throws UnreadableFileError if a line is missing or has a cell without an amount. */
export async function collectSummary(rows: AsyncIterable<SheetRow>, texts: Texts): Promise<CollectedSummary> {
  const found = new Map<string, bigint[]>();
  const days: CollectedSummary['days'] = [];
  let isBalance = false;
  const labels = new Map<string, string>([
    ...LINES.map((line) => [texts.summary[line], line] as const),
    ...SHARE_LINES.map((line) => [texts.orders[line], line] as const),
  ]);
  for await (const row of rows) {
    const [first, ...cells] = row.cells;
    if (first?.kind === 'number') {
      days.push(readDay(row));
      continue;
    }
    const line = first?.kind === 'text' ? labels.get(first.text) : undefined;
    // sections before the balance have lines of the same names
    if (first?.text === texts.summary.line) isBalance = true;
    if (isBalance && line && !found.has(line))
      found.set(
        line,
        cells.map((_, index) => centsAt(row, index + 1)),
      );
  }
  for (const line of LINES)
    if (!found.has(line) && !OPTIONAL.includes(line))
      throw new UnreadableFileError(`there is no line ${texts.summary[line]}`);
  const all = [...LINES, ...SHARE_LINES].map((line) => [line, found.get(line) ?? []]);
  // one value for each line
  const lines = Object.fromEntries(all) as CollectedSummary['lines'];
  return { lines, days };
}

function readDay(row: SheetRow): CollectedSummary['days'][number] {
  const cents = Object.entries(DAY_CELLS).map(([name, index]) => [name, centsAt(row, index)]);
  return Object.fromEntries(cents) as CollectedSummary['days'][number]; // one value for each name
}

function centsAt({ number, cells }: SheetRow, index: number): bigint {
  const cell = cells[index];
  const cents = cell && parseCell(cell);
  if (cents === undefined) throw new UnreadableFileError(`row ${number} has a cell without an amount`);
  return cents;
}
