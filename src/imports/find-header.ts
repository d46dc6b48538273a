/** Finds the header of a table: lines may stand above it, such as the name of an account and a period. */
import type { SheetCell, SheetRow } from '../spreadsheet/row.ts';
import { type AnyColumn, fold } from './columns.ts';

export type Columns = Record<string, AnyColumn>;

/** Rows with text in which the header is searched, and rows below the table that are left out. */
export const BESIDE_ROWS_MAX = 20;
/** Rows above the header, empty ones too. */
const SEARCHED_ROWS_MAX = 1_000;
const TITLE_CHARS_MAX = 200;

/** @returns the header of a file, with the name of each of its columns; undefined: its first rows have none. */
export async function findHeader(
  rows: AsyncIterable<SheetRow> | Iterable<SheetRow>,
  columns: Columns,
): Promise<string[] | undefined> {
  let left = BESIDE_ROWS_MAX;
  let searched = 0;
  for await (const row of rows) {
    if (++searched > SEARCHED_ROWS_MAX) return undefined;
    if (!isFilled(row)) continue;
    const names = findColumns(row, columns);
    if (names || --left === 0) return names;
  }
  return undefined;
}

/** @returns the name of each column of the file; undefined if one is unknown, repeated or missing. */
export function findColumns(header: SheetRow, columns: Columns): string[] | undefined {
  const cells = [...header.cells];
  while (cells.length > 0 && isEmpty(cells.at(-1))) cells.pop();
  if (cells.length > Object.keys(columns).length) return undefined;
  const names = Array.from(cells, (cell) => findColumn(cell, columns));
  const known = names.flatMap((name) => name ?? []);
  const isWhole = Object.entries(columns).every(([name, { isRequired }]) => !isRequired || known.includes(name));
  return isWhole && known.length === names.length && new Set(known).size === known.length ? known : undefined;
}

/** The columns as a template has them; those in brackets may be left out. */
export function listHeader(columns: Columns): string {
  return Object.values(columns)
    .filter(({ isIgnored }) => !isIgnored)
    .map(({ titles, isRequired }) => (isRequired ? titles['pt-BR'] : `[${titles['pt-BR']}]`))
    .join('; ');
}

/** @returns the row that has the most titles of columns; the first one if none has any. */
export function findNearest(rows: SheetRow[], columns: Columns): number {
  const count = ({ cells }: SheetRow): number => cells.filter((cell) => findColumn(cell, columns) !== undefined).length;
  return rows.reduce((best, row) => (count(row) > count(best) ? row : best), rows[0] ?? { number: 0, cells: [] })
    .number;
}

function findColumn(cell: SheetCell | undefined, columns: Columns): string | undefined {
  const text = cell?.text ?? '';
  if (text.length > TITLE_CHARS_MAX) return undefined;
  const title = fold(text);
  return Object.keys(columns).find((name) =>
    Object.values(columns[name]?.titles ?? {}).some((one) => fold(one) === title),
  );
}

export function isFilled({ cells }: SheetRow): boolean {
  return cells.some((cell) => !isEmpty(cell));
}

/** An error is not empty. */
export function isEmpty(cell: SheetCell | undefined): boolean {
  return cell === undefined || (cell.kind === 'text' && !cell.isFormula && cell.text.trim() === '');
}
