/**
 * Reads the rows of a table by its header. Lines above the header, a total and notes below the rows are none of its rows: they
 * are left out by name, and only where they cannot be rows. A total is compared with the rows.
 */
import { append } from '../domain/lists.ts';
import { formatAmount, type WrittenAmount } from '../domain/money.ts';
import { createPauses } from '../runtime/take-turns.ts';
import type { SheetCell, SheetRow } from '../spreadsheet/row.ts';
import { beginsAsTotal } from './balance-texts.ts';
import type { AnyColumn } from './columns.ts';
import { findMonthFirst, isSplit, type WrittenDay } from './find-doubtful-fields.ts';
import {
  BESIDE_ROWS_MAX,
  type Columns,
  findColumns,
  findNearest,
  isEmpty,
  isFilled,
  listHeader,
} from './find-header.ts';
import type { CellFault, ImportedRow, ImportFault, LeftOutRow, ReadRows } from './import-kind.ts';

export type Values = Record<string, unknown>;
export type Table = {
  rows: AsyncIterable<SheetRow> | Iterable<SheetRow>;
  is1904: boolean;
  /** Faults of the sheet as a whole; filled while its rows are read. */
  faults: ImportFault[];
  /** The row of the header, once it is read. */
  header?: number;
  /** Stands between the fields of a CSV. Cells of a sheet may be empty only because they have a style. */
  separator?: string;
};
type Header = { names: string[]; fieldsMax: number };
type ReadRow = SheetRow & { values: Values; faults: ImportFault[] };
type Below = ReadRow & { why: 'total' | 'note' };

/** @param rowsMax one more is a fault. */
export async function readRows(table: Table, columns: Columns, rowsMax: number): Promise<ReadRows<Values>> {
  const faults: ImportFault[] = [];
  const faulty = new Set<number>();
  const refuse = (some: ImportFault[]): void => {
    for (const one of some) {
      faulty.add(one.row);
      faults.push(one);
    }
  };
  const [rows, wrong]: [ImportedRow<Values>[], ImportedRow<Values>[]] = [[], []];
  const above: SheetRow[] = [];
  const days: WrittenDay[] = [];
  let below: Below[] = [];
  let header: Header | undefined;
  const pause = createPauses();
  for await (const row of table.rows) {
    const paused = pause();
    if (paused) await paused;
    if (!isFilled(row)) continue;
    if (!header) {
      const names = findColumns(row, columns);
      // an unquoted 1500,75 in a file with commas is two fields
      if (names) {
        header = { names, fieldsMax: table.separator ? row.cells.length : Number.POSITIVE_INFINITY };
        table.header = row.number;
      } else if (above.push(row) === BESIDE_ROWS_MAX) break;
      continue;
    }
    const read = readRow(row, header, columns, table);
    const why = whyNoRow(read, header, columns);
    if (why && below.length < BESIDE_ROWS_MAX) {
      below.push({ ...read, why });
      continue;
    }
    refuse(below.flatMap(describeBetween));
    below = [];
    if (rows.length + faulty.size >= rowsMax) {
      faults.push({ row: row.number, column: null, kind: 'too_many_rows', value: rowsMax });
      break;
    }
    if (read.faults.length > 0) {
      refuse(read.faults);
      append(wrong, [{ number: row.number, value: read.values }]);
    } else {
      rows.push({ number: row.number, value: read.values });
      append(days, listDays(read, header, columns));
    }
  }
  const beside = header ? checkBeside({ above, below, rows, faults }, header, columns, table) : undefined;
  if (!header && above.length > 0)
    faults.push({ row: findNearest(above, columns), column: null, kind: 'header', value: listHeader(columns) });
  append(faults, beside?.faults ?? []);
  const all = [...table.faults, ...faults, ...findMonthFirst(days)];
  if (rows.length === 0 && all.length === 0) all.push({ row: 0, column: null, kind: 'no_rows' });
  return { rows, faults: all, leftOut: beside?.leftOut ?? [], wrong };
}

type Parts = { above: SheetRow[]; below: Below[]; rows: ImportedRow<Values>[]; faults: ImportFault[] };

/** Names the rows above the header and below the table; a row that may be one of the table is a fault. */
function checkBeside({ above, below, rows, faults }: Parts, header: Header, columns: Columns, table: Table) {
  const leftOut: LeftOutRow[] = [];
  const found: ImportFault[] = [];
  for (const row of above) {
    const { number, faults: own } = readRow(row, header, columns, table);
    if (own.length > 1) leftOut.push({ row: number, why: 'above_header' });
    else found.push({ row: number, column: null, kind: 'above_header' });
  }
  for (const { number, why, cells } of below) {
    const differs = why === 'total' && faults.length === 0 ? findDifference(cells, rows, header, columns) : undefined;
    if (differs === undefined) leftOut.push({ row: number, why });
    else found.push({ row: number, ...differs });
  }
  return { leftOut, faults: found };
}

function describeBetween({ number, why, faults }: Below): ImportFault[] {
  return why === 'total' ? [{ row: number, column: null, kind: 'total_row' }] : faults;
}

const WORD = /\p{L}{3}/u;
const TEXT_CHARS = 60;

/**
 * Whether a row cannot be one of the table: it says that it is a total and lacks a value that is required and no amount, or it is a
 * single text that its column refuses or does not require.
 */
function whyNoRow({ cells, faults }: ReadRow, { names }: Header, columns: Columns): Below['why'] | undefined {
  const filled = [...cells.entries()].flatMap(([index, cell]) =>
    cell === undefined || isEmpty(cell) ? [] : [{ cell, name: names[index] ?? '' }],
  );
  const lacks = faults.some(({ kind, column }) => kind === 'missing' && !columns[column ?? '']?.isMoney);
  const texts = filled.filter(({ cell }) => cell.kind === 'text');
  if (lacks && texts.some(({ cell }) => beginsAsTotal(cell.text))) return 'total';
  const [only] = filled.length === 1 ? texts : [];
  const column = columns[only?.name ?? ''];
  if (!only || !column || column.isMoney || !WORD.test(only.cell.text.slice(0, TEXT_CHARS))) return undefined;
  const isRefused = faults.some(({ kind, column: of }) => of === only.name && kind !== 'missing');
  return lacks && (isRefused || !column.isRequired) ? 'note' : undefined;
}

/** A total that is not the sum of the rows, nor of those above or below zero: rows are missing, or were misread. */
function findDifference(
  cells: SheetRow['cells'],
  rows: ImportedRow<Values>[],
  { names }: Header,
  columns: Columns,
): (CellFault & { column: string }) | undefined {
  // what the direction beside an amount makes of it is known to the kind alone
  if (names.some((name) => columns[name]?.isWhole)) return undefined;
  for (const [index, cell] of cells.entries()) {
    const name = names[index] ?? '';
    const column = columns[name];
    if (!cell || isEmpty(cell) || !column?.isMoney) continue;
    const parsed = column.parse(cell, { is1904: false });
    if ('fault' in parsed) continue;
    const amounts = rows.map(({ value }) => toCents(value[name]));
    const sum = (signed: bigint[]): bigint => signed.reduce((total, one) => total + one, 0n);
    const [whole, spent] = [sum(amounts), sum(amounts.filter((one) => one < 0n))];
    if (![whole, spent, -spent, whole - spent].includes(toCents(parsed.value)))
      return { column: name, kind: 'total_differs', value: formatAmount(whole) };
  }
  return undefined;
}

function listDays({ number: row, cells, values }: ReadRow, { names }: Header, columns: Columns): WrittenDay[] {
  return names.flatMap((column, index) => {
    const [day, cell] = [values[column], cells[index]];
    const isWritten = columns[column]?.isDay && typeof day === 'string' && cell?.kind === 'text';
    return isWritten ? [{ row, column, day: day.slice(0, 10), text: cell.text.trim() }] : [];
  });
}

function toCents(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  return (value as WrittenAmount | null)?.cents ?? 0n; // a money column has no other value
}

function readRow(
  { number: row, cells, isHidden }: SheetRow,
  { names, fieldsMax }: Header,
  columns: Columns,
  table: Table,
) {
  const read = Object.entries(columns).filter(([, { isIgnored }]) => !isIgnored);
  const values: Values = Object.fromEntries(read.map(([name]) => [name, null]));
  const faults: ImportFault[] = [];
  for (const [index, cell] of cells.entries()) {
    if (cell === undefined || isEmpty(cell)) continue;
    const name = names[index];
    const column = name === undefined ? undefined : columns[name];
    if (name === undefined || column === undefined) {
      faults.push({ row, column: null, kind: 'extra_cell' });
      continue;
    }
    if (column.isIgnored) continue;
    const isHalf =
      column.isMoney && table.separator === ',' && index + 1 < names.length && isSplit(cell, cells[index + 1]);
    const { separator } = table;
    const isStray = separator !== undefined && cell.text.includes(separator) && /[\r\n]/.test(cell.text);
    const doubt = isHalf ? 'split_amount' : isStray ? 'stray_quotes' : undefined;
    const parsed = doubt ? { fault: { kind: doubt } as const } : parseCell(cell, column, table);
    if ('fault' in parsed) faults.push({ row, column: name, ...parsed.fault });
    else values[name] = parsed.value;
  }
  for (const [name, { isRequired, isWhole }] of Object.entries(columns)) {
    const isAsked = isRequired || (isWhole && names.includes(name));
    if (isAsked && values[name] === null && !faults.some((fault) => fault.column === name))
      faults.push({ row, column: name, kind: 'missing' });
  }
  if (cells.length > fieldsMax && !faults.some(({ kind }) => kind === 'extra_cell'))
    faults.push({ row, column: null, kind: 'extra_cell' });
  if (isHidden) faults.push({ row, column: null, kind: 'hidden_row' });
  return { number: row, cells, values, faults };
}

function parseCell(cell: SheetCell, column: AnyColumn, { is1904 }: Table): { value: unknown } | { fault: CellFault } {
  if (cell.isFormula) return { fault: { kind: 'formula' } };
  if (cell.kind === 'other') return { fault: { kind: 'other_cell' } };
  return column.parse(cell, { is1904 });
}
