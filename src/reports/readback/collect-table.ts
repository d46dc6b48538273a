import { parseSum } from '../../domain/money.ts';
import { type SheetCell, type SheetRow, UnreadableFileError } from '../../spreadsheet/row.ts';
import type { Texts } from '../../texts/reports/texts.ts';
import type { ReportColumn } from '../render/columns.ts';

/** The rows above the data of a sheet: the title, *Linhas visíveis*, and the header. */
const SHOWN_ROW = 2;
const HEADER_ROW = 3;

/** A sheet, over all its parts: its data rows, and its own rows of totals and of what a filter shows. */
export type CollectedTable = {
  rows: number;
  sums: Map<string, bigint>;
  totals: Map<string, bigint>;
  shownRows: number;
  shown: Map<string, bigint>;
};

/** Follows the running balance of *Extrato*: each row is the row before and its net. */
export type BalanceChain = { cents: bigint; brokenAt: number | undefined };

/** A column of a report, of which only the money is checked. */
export type CheckedColumn = Pick<ReportColumn<never>, 'name' | 'type' | 'totals'>;

type Column = { name: string; index: number; hasTotal: boolean };

export function startTable(): CollectedTable {
  return { rows: 0, sums: new Map(), totals: new Map(), shownRows: 0, shown: new Map() };
}

/**
 * Adds one part of a sheet to what its parts before it show.
 * @param chain of *Extrato* alone; it is followed over all parts.
 * @throws UnreadableFileError for a sheet without its header or total, or with a cell of money that holds none.
 */
export async function collectTable(
  rows: AsyncIterable<SheetRow>,
  { columns, texts }: { columns: readonly CheckedColumn[]; texts: Texts },
  table: CollectedTable,
  chain?: BalanceChain,
): Promise<void> {
  let found: Column[] | undefined;
  let shown: SheetRow | undefined;
  let hasTotal = false;
  for await (const row of rows) {
    if (row.number === SHOWN_ROW) shown = row;
    if (row.number === HEADER_ROW) {
      found = findColumns(row, columns, texts);
      addShown(table, shown, found);
    }
    if (row.number <= HEADER_ROW) continue;
    if (!found || hasTotal) throw new UnreadableFileError(`row ${row.number} is outside of the table`);
    const [first] = row.cells;
    if (first?.kind === 'number') addRow(table, row, found, chain);
    else if (first?.text.startsWith(`${texts.summary.total} ·`)) {
      addTo(
        table.totals,
        row,
        found.filter((column) => column.hasTotal),
      );
      hasTotal = true;
    } else if (row.cells.length > 0) throw new UnreadableFileError(`row ${row.number} has no time`);
  }
  if (!hasTotal) throw new UnreadableFileError('there is no total');
}

function findColumns(header: SheetRow, columns: readonly CheckedColumn[], texts: Texts): Column[] {
  return columns
    .filter(({ type }) => type === 'money')
    .map(({ name, totals }) => {
      const index = header.cells.findIndex((cell) => cell?.text === texts.columns[name]);
      if (index < 0) throw new UnreadableFileError(`there is no column ${texts.columns[name]}`);
      return { name, index, hasTotal: totals === true };
    });
}

function addShown(table: CollectedTable, row: SheetRow | undefined, columns: Column[]): void {
  const count = row?.cells[1]?.text ?? '';
  if (!row || !/^\d+$/.test(count)) throw new UnreadableFileError('there is no count of rows above the header');
  table.shownRows += Number(count);
  addTo(
    table.shown,
    row,
    columns.filter((column) => column.hasTotal),
  );
}

function addRow(table: CollectedTable, row: SheetRow, columns: Column[], chain: BalanceChain | undefined): void {
  table.rows++;
  addTo(table.sums, row, columns);
  if (chain) follow(chain, row, columns);
}

function follow(chain: BalanceChain, row: SheetRow, columns: Column[]): void {
  const of = (name: string): bigint => readCents(row, columns.find((column) => column.name === name)?.index ?? -1);
  const balance = of('balance');
  if (balance !== chain.cents + of('net')) chain.brokenAt ??= row.number;
  chain.cents = balance;
}

function addTo(sums: Map<string, bigint>, row: SheetRow, columns: Column[]): void {
  for (const { name, index } of columns) sums.set(name, (sums.get(name) ?? 0n) + readCents(row, index));
}

/** An empty cell is 0. @throws UnreadableFileError for any other cell than an amount. */
function readCents({ number, cells }: SheetRow, index: number): bigint {
  const cell = cells[index];
  if (cell === undefined) return 0n;
  const cents = parseCell(cell);
  if (cents === undefined) throw new UnreadableFileError(`row ${number} has a cell of money without an amount`);
  return cents;
}

const CENTS = /^-?\d+\.\d\d$/;

/** The cents of a cell; undefined if it holds no amount. */
export function parseCell({ kind, text }: SheetCell): bigint | undefined {
  if (kind !== 'number') return undefined;
  // as Confere writes it: a third of the time of `parseSum`
  return CENTS.test(text) ? BigInt(text.replace('.', '')) : parseSum(text);
}
