import { type SheetRow, UnreadableFileError } from '../../spreadsheet/row.ts';
import type { Texts } from '../../texts/reports/texts.ts';
import { parseCell } from './collect-table.ts';

/** The lines that move a balance. Resumo of a day has no `openings`. */
const MOVING = ['receipts', 'commissionIn', 'payments', 'commissionOut', 'refundsMade', 'refundsReceived'] as const;
export const MOVING_LINES = [...MOVING, 'adjustments', 'openings'] as const;
const LINES = ['opening', ...MOVING_LINES, 'closing', 'held', 'ledger'] as const;
/** The cells of a day's row on Resumo do período. */
const DAY_CELLS = {
  ...{ opening: 1, receipts: 2, commissions: 3, payments: 4, refundsMade: 5, refundsReceived: 6 },
  ...{ adjustments: 7, closing: 8, held: 9 },
};

/** The balances that Resumo shows, in cents: a number for each platform, and the total last. */
export type CollectedSummary = {
  lines: Record<(typeof LINES)[number], bigint[]>;
  /** Days of a range. */
  days: Record<keyof typeof DAY_CELLS, bigint>[];
};

/** @throws UnreadableFileError if a line is missing or has a cell without an amount. */
export async function collectSummary(rows: AsyncIterable<SheetRow>, texts: Texts): Promise<CollectedSummary> {
  const found = new Map<string, bigint[]>();
  const days: CollectedSummary['days'] = [];
  let isBalance = false;
  const labels = new Map(LINES.map((line) => [texts.summary[line], line]));
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
  const linesOf = (line: (typeof LINES)[number]): bigint[] => {
    const cents = found.get(line);
    if (!cents && line !== 'openings') throw new UnreadableFileError(`there is no line ${texts.summary[line]}`);
    return cents ?? [];
  };
  // one value for each line
  const lines = Object.fromEntries(LINES.map((line) => [line, linesOf(line)])) as CollectedSummary['lines'];
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
