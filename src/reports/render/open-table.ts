import { fill } from '../../texts/fill.ts';
import { formatLocalCount, type Texts } from '../../texts/reports/texts.ts';
import {
  countPagesWide,
  type FinishedSheet,
  openSheet,
  type SheetTarget,
  type SheetWriter,
} from '../xlsx/open-sheet.ts';
import { quoteTitle } from '../xlsx/refer-to-cells.ts';
import { type Cell, columnName } from '../xlsx/render-cell.ts';
import type { RenderContext, ReportColumn } from './columns.ts';

const HEADER_ROW = 3;
/** SUBTOTAL's functions for rows that neither a filter nor a person hides. */
const COUNT_SHOWN = 103;
const SUM_SHOWN = 109;
const TABS = ['FF17375E', 'FF2E6DA4', 'FF2E8B57', 'FFB3261E', 'FF8E5BA6', 'FFD08A1D', 'FF9C3D2E', 'FF66788A'];
const HEADER_HEIGHT_POINTS = 30;

/** A column of any table. `title`: in place of the text of the name. */
type TableColumn<Row> = Omit<ReportColumn<Row>, 'name'> & { name: string; title?: string };

export type FinishedTable = {
  sheets: FinishedSheet[];
  rows: number;
  /** The sum of a column over all parts, and a formula that gives it from the parts' own totals. */
  totals: Map<string, { cents: bigint; formula: string }>;
};

export type TableWriter<Row> = { add(row: Row): void; drain(): Promise<void>; end(): Promise<FinishedTable> };

/** Gives the sheets of one workbook their names and files. */
export type SheetFactory = {
  subtitle: string;
  footer: string;
  rowsPerSheetMax: number;
  next(): SheetTarget & { index: number };
};

/**
 * Opens a sheet of rows with one header below a row of subtotals, and a total row. Rows beyond the limit start another part, with a header and a
 * total of its own.
 */
export function openTable<Row>(
  factory: SheetFactory,
  table: { title: string; note: string; columns: TableColumn<Row>[] },
  rendering: RenderContext,
): TableWriter<Row> {
  const { columns } = table;
  const wraps = columns.some((column) => column.wraps);
  const parts: FinishedSheet[] = [];
  const summed = columns.flatMap((column, index) => (column.totals ? [index] : []));
  const sums = columns.map(() => 0n);
  const formulas: string[][] = columns.map(() => []);
  let rows = 0;
  let ending: Promise<void> = Promise.resolve();
  let part = openPart(factory, table, rendering, 1);

  async function endPart(ended: Part): Promise<void> {
    closePart(columns, ended, { formulas, texts: rendering.texts });
    parts.push(await ended.sheet.end());
  }

  return {
    add(row) {
      if (part.rows >= factory.rowsPerSheetMax) {
        const full = part;
        ending = ending.then(() => endPart(full));
        // drain and end throw the failure
        ending.catch(() => undefined);
        part = openPart(factory, table, rendering, part.number + 1);
      }
      const cells = columns.map((column) => column.cell(row, rendering));
      for (const index of summed) {
        const cents = readCents(cells[index]);
        sums[index] = (sums[index] ?? 0n) + cents;
        part.sums[index] = (part.sums[index] ?? 0n) + cents;
      }
      part.sheet.addRow(cells, wraps ? measureRow(cells, columns) : {});
      part.rows++;
      rows++;
    },
    async drain() {
      await ending;
      await part.sheet.drain();
    },
    async end() {
      await ending;
      await endPart(part);
      const totals = new Map<string, { cents: bigint; formula: string }>();
      for (const [index, column] of columns.entries()) {
        const formula = formulas[index]?.join('+') ?? '';
        if (column.totals) totals.set(column.name, { cents: sums[index] ?? 0n, formula });
      }
      return { sheets: parts, rows, totals };
    },
  };
}

const LINE_HEIGHT_POINTS = 13;
const LINES_MAX = 20;

/** The height of a row with wrapped text. LibreOffice does not compute it when it opens a file: it cut the lines. */
function measureRow<Row>(cells: Cell[], columns: TableColumn<Row>[]): { heightPoints?: number } {
  let lines = 1;
  for (let index = 0; index < cells.length; index++) {
    const [cell, column] = [cells[index], columns[index]];
    if (!column?.wraps || cell === undefined || !('text' in cell) || cell.text === null) continue;
    lines = Math.max(lines, countLines(cell.text, column.width));
  }
  return heightOf(lines);
}

/** The lines that a text takes that wraps in a column of a width. */
export function countLines(text: string, width: number): number {
  // most letters are narrower than the width's unit, capitals of wide fonts are not
  return Math.ceil(text.length / ((width - 2) * 0.9));
}

/** The height of a row of as many lines. */
export function heightOf(lines: number): { heightPoints?: number } {
  return lines <= 1 ? {} : { heightPoints: 2 + LINE_HEIGHT_POINTS * Math.min(lines, LINES_MAX) };
}

type Part = { number: number; title: string; sheet: SheetWriter; rows: number; sums: bigint[] };

function openPart<Row>(
  factory: SheetFactory,
  table: { title: string; note: string; columns: TableColumn<Row>[] },
  rendering: RenderContext,
  number: number,
): Part {
  const target = factory.next();
  const title = number === 1 ? table.title : `${table.title}${fill(rendering.texts.notes.part, { part: number })}`;
  const sheet = openSheet(
    {
      title,
      widths: table.columns.map((column) => column.width),
      tabColor: TABS[target.index % TABS.length] ?? 'FF17375E',
      frozenRows: HEADER_ROW,
      frozenColumns: 1,
      footer: factory.footer,
    },
    target,
  );
  const part: Part = { number, title, sheet, rows: 0, sums: [] };
  addTitle(sheet, { title, note: `${table.note}  ${factory.subtitle}` }, table.columns);
  sheet.addLateRow(() => listShown(table.columns, part, rendering.texts));
  const [named, help]: Partial<Record<string, string>>[] = [rendering.texts.columns, rendering.texts.help];
  sheet.addRow(
    table.columns.map(({ name, title, type }) => ({
      text: title ?? named?.[name] ?? name,
      style: type === 'money' || type === 'count' ? 'headerRight' : 'header',
    })),
    { heightPoints: HEADER_HEIGHT_POINTS },
  );
  for (const [index, column] of table.columns.entries()) {
    const [title, text] = [named?.[column.name], help?.[column.name]];
    if (title && text && !column.title) sheet.addNote({ cell: `${columnName(index)}${HEADER_ROW}`, title, text });
  }
  return part;
}

/** The first of two printed pages side by side holds at least this share of the columns' width. */
const FIRST_PAGE_SHARE = 0.45;
const TITLE_HEIGHT_POINTS = 24;

/**
 * Adds the title, and the note right of the column that stays in view. Where a row takes two pages side by side, the note
 * wraps within the first one: an overflowing text was printed over the second page.
 */
function addTitle(
  sheet: SheetWriter,
  { title, note }: { title: string; note: string },
  columns: readonly { width: number; wraps?: boolean }[],
): void {
  const widths = columns.map(({ width }) => width);
  const cell: Cell = { text: title, style: 'tableTitle' };
  if (countPagesWide({ widths }) === 1) {
    sheet.addRow([cell, { text: note, style: 'muted' }], { heightPoints: TITLE_HEIGHT_POINTS });
    return;
  }
  const limit = FIRST_PAGE_SHARE * widths.reduce((sum, width) => sum + width, 0) - (widths[0] ?? 0);
  let last = 1;
  let width = widths[1] ?? 0;
  while (width + (widths[last + 1] ?? limit) <= limit) width += widths[++last] ?? 0;
  if (last > 1) sheet.merge(`B${sheet.nextRow()}:${columnName(last)}${sheet.nextRow()}`);
  const lines = Math.ceil(note.length / (width * 0.9));
  const heightPoints = Math.max(TITLE_HEIGHT_POINTS, 2 + LINE_HEIGHT_POINTS * lines);
  sheet.addRow([cell, { text: note, style: 'mutedWrapped' }], { heightPoints });
}

/** The row above the header: the number of the rows that a filter shows, and the sums over them. */
function listShown<Row>(columns: TableColumn<Row>[], part: Part, texts: Texts): Cell[] {
  const rangeOf = (index: number): string => {
    const letter = columnName(index);
    return `${letter}${HEADER_ROW + 1}:${letter}${HEADER_ROW + Math.max(1, part.rows)}`;
  };
  return columns.map((column, index): Cell => {
    if (index === 0) return { text: texts.notes.shown, style: 'textShown' };
    if (index === 1)
      return { count: part.rows, style: 'countShown', formula: `SUBTOTAL(${COUNT_SHOWN},${rangeOf(0)})` };
    if (!column.totals) return { text: null, style: 'textShown' };
    const formula = `SUBTOTAL(${SUM_SHOWN},${rangeOf(index)})`;
    return { cents: part.sums[index] ?? 0n, style: 'moneyShown', formula };
  });
}

/** Adds the total row. A table without rows gets an empty row first: a sum over its own cell would be circular. */
function closePart<Row>(
  columns: TableColumn<Row>[],
  part: Part,
  { formulas, texts }: { formulas: string[][]; texts: Texts },
): void {
  const { sheet } = part;
  if (part.rows === 0) sheet.addRow([]);
  const first = HEADER_ROW + 1;
  const last = sheet.nextRow() - 1;
  const totalRow = sheet.nextRow();
  const words = part.rows === 1 ? texts.summary.row : texts.summary.rows;
  const cells = columns.map((column, index): Cell => {
    if (index === 0)
      return { text: `${texts.summary.total} · ${formatLocalCount(part.rows, texts)} ${words}`, style: 'textTotal' };
    if (!column.totals) return { text: null, style: 'textTotal' };
    const letter = columnName(index);
    formulas[index]?.push(`${quoteTitle(part.title)}!${letter}${totalRow}`);
    return { cents: part.sums[index] ?? 0n, style: 'moneyTotal', formula: `SUM(${letter}${first}:${letter}${last})` };
  });
  sheet.addRow(cells);
  const lastFiltered = part.rows === 0 ? HEADER_ROW : last;
  sheet.setFilter(`A${HEADER_ROW}:${columnName(columns.length - 1)}${lastFiltered}`);
}

function readCents(cell: Cell): bigint {
  return cell !== undefined && 'cents' in cell ? (cell.cents ?? 0n) : 0n;
}
