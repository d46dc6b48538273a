import { type SheetRow, UnreadableFileError } from '../../spreadsheet/row.ts';
import type { Texts } from '../texts/texts.ts';
import { parseCell } from './collect-table.ts';

const LINES = ['opening', 'closing', 'held', 'ledger'] as const;
/** The cells of a day's row on Resumo do período. */
const DAY_CELLS = { closing: 7, held: 8 };

/** What Resumo shows of balances, in cents: a number for each platform, and the total last. */
export type CollectedSummary = {
  lines: Record<(typeof LINES)[number], bigint[]>;
  /** Of a range. */
  days: { closing: bigint; held: bigint }[];
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
      days.push({ closing: centsAt(row, DAY_CELLS.closing), held: centsAt(row, DAY_CELLS.held) });
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
    if (!cents) throw new UnreadableFileError(`there is no line ${texts.summary[line]}`);
    return cents;
  };
  return {
    lines: {
      opening: linesOf('opening'),
      closing: linesOf('closing'),
      held: linesOf('held'),
      ledger: linesOf('ledger'),
    },
    days,
  };
}

function centsAt({ number, cells }: SheetRow, index: number): bigint {
  const cell = cells[index];
  const cents = cell && parseCell(cell);
  if (cents === undefined) throw new UnreadableFileError(`row ${number} has a cell without an amount`);
  return cents;
}
