import { largest } from '../../domain/lists.ts';
import { type Cell, columnName, escapeText, renderCell } from './render-cell.ts';
import type { PlacedChart } from './render-chart.ts';
import { type CellNote, renderValidations, type Validation } from './render-validations.ts';
import { openZipEntry, type ZipEntry, type ZipEntryWriter } from './write-zip.ts';

export type SheetSetup = {
  title: string;
  /** In characters, one a column. */
  widths: readonly number[];
  tabColor?: string;
  /** Rows above the scrolling part, and repeated on every printed page. */
  frozenRows?: number;
  /** Columns of the frozen rows that stay in view. */
  frozenColumns?: number;
  showsGrid?: boolean;
  /** Printed pages end at `breakPage`, all at the scale of the fullest one; default: at the end of the paper. */
  breaksPages?: boolean;
  footer?: string;
};

/** The facts of a finished sheet that the workbook needs. */
export type FinishedSheet = {
  title: string;
  entry: ZipEntry;
  printTitleRows: number;
  printTitleColumns: number;
  filter: string | undefined;
  charts: PlacedChart[];
};

export type SheetWriter = {
  /** The number that the next row gets, from 1. */
  nextRow(): number;
  addRow(cells: readonly Cell[], options?: RowOptions): void;
  /** Adds a row whose values are known last: `end` asks for its cells. Not after `drain`. */
  addLateRow(cells: () => readonly Cell[], options?: RowOptions): void;
  /** The next row starts a new page. */
  breakPage(): void;
  merge(range: string): void;
  /** Shows a bar in each cell of a range, in proportion to its value. */
  addDataBars(range: string, color: string): void;
  /** Says which values a person may write into cells. */
  addValidation(validation: Validation): void;
  addNote(note: CellNote): void;
  setFilter(range: string): void;
  addChart(chart: PlacedChart): void;
  /** Writes the added rows out. Call it every few hundred rows to bound memory. */
  drain(): Promise<void>;
  end(): Promise<FinishedSheet>;
};

export type RowOptions = { heightPoints?: number };

/** A sheet's name in the workbook, the file to write, and the signal that ends the writing early. */
export type SheetTarget = { name: string; file: string; signal: AbortSignal };

/** Opens a sheet that compresses rows into a file of its own as they arrive. */
export function openSheet(setup: SheetSetup, target: SheetTarget): SheetWriter {
  const entry: ZipEntryWriter = openZipEntry(target.name, target.file, target.signal);
  const merges: string[] = [];
  const pages: PrintedPage[] = [{ lastRow: 0, heightPoints: 0 }];
  const bars: { range: string; color: string }[] = [];
  const charts: PlacedChart[] = [];
  const validations: Validation[] = [];
  const notes: CellNote[] = [];
  const columns = setup.widths.map((_, index) => columnName(index));
  // the text up to the last late row: it is written last and stands first
  const head: (() => string)[] = [];
  // what stands before the first drain may yet become a part of that
  let start = renderHead(setup);
  let isDrained = false;
  let row = 0;
  let filter: string | undefined;

  function startRow({ heightPoints = ROW_HEIGHT_POINTS }: RowOptions): number {
    const page = pages.at(-1);
    if (page) page.heightPoints += heightPoints;
    return ++row;
  }

  function add(text: string): void {
    if (isDrained) entry.add(text);
    else start += text;
  }

  async function drain(): Promise<void> {
    if (!isDrained) entry.add(start);
    isDrained = true;
    await entry.drain();
  }

  return {
    nextRow: () => row + 1,
    addRow(cells, options = {}) {
      add(renderRow(startRow(options), cells, columns, options));
    },
    addLateRow(cells, options = {}) {
      if (isDrained) throw new Error('a late row cannot follow rows that were written out');
      const before = start;
      const number = startRow(options);
      head.push(() => before + renderRow(number, cells(), columns, options));
      start = '';
    },
    breakPage() {
      const page = pages.at(-1);
      if (page) page.lastRow = row;
      pages.push({ lastRow: row, heightPoints: 0 });
    },
    merge: (range) => void merges.push(range),
    addDataBars: (range, color) => void bars.push({ range, color }),
    addValidation: (validation) => void validations.push(validation),
    addNote: (note) => void notes.push(note),
    setFilter(range) {
      filter = range;
    },
    addChart: (chart) => void charts.push(chart),
    drain,
    async end() {
      add(renderTail(setup, { merges, bars, validations, notes, filter, pages, hasCharts: charts.length > 0 }));
      await drain();
      const printTitleColumns = countPagesWide(setup) > 1 ? (setup.frozenColumns ?? 0) : 0;
      const packed = await entry.end(head.map((render) => render()).join(''));
      const printTitleRows = setup.frozenRows ?? 0;
      return { title: setup.title, entry: packed, printTitleRows, printTitleColumns, filter, charts };
    },
  };
}

function renderRow(row: number, cells: readonly Cell[], columns: readonly string[], options: RowOptions): string {
  const height = options.heightPoints ? ` ht="${options.heightPoints}" customHeight="1"` : '';
  const number = String(row);
  let line = `<row r="${number}"${height}>`;
  for (let index = 0; index < cells.length; index++) {
    line += renderCell((columns[index] ?? columnName(index)) + number, cells[index]);
  }
  return `${line}</row>`;
}

function renderHead(setup: SheetSetup): string {
  const widths = setup.widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  );
  const tab = setup.tabColor ? `<tabColor rgb="${setup.tabColor}"/>` : '';
  return [
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ' +
      'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">',
    `<sheetPr>${tab}<pageSetUpPr fitToPage="${setup.breaksPages ? 0 : 1}"/></sheetPr>`,
    `<sheetViews><sheetView workbookViewId="0"${setup.showsGrid === false ? ' showGridLines="0"' : ''}>`,
    renderPane(setup.frozenRows ?? 0, setup.frozenColumns ?? 0),
    '</sheetView></sheetViews>',
    `<sheetFormatPr defaultRowHeight="${ROW_HEIGHT_POINTS}"/>`,
    `<cols>${widths.join('')}</cols><sheetData>`,
  ].join('');
}

function renderPane(rows: number, columns: number): string {
  if (rows === 0 && columns === 0) return '';
  const pane = rows > 0 && columns > 0 ? 'bottomRight' : rows > 0 ? 'bottomLeft' : 'topRight';
  const split = `${columns > 0 ? ` xSplit="${columns}"` : ''}${rows > 0 ? ` ySplit="${rows}"` : ''}`;
  const cell = `${columnName(columns)}${rows + 1}`;
  return `<pane${split} topLeftCell="${cell}" activePane="${pane}" state="frozen"/><selection pane="${pane}" activeCell="${cell}" sqref="${cell}"/>`;
}

function renderTail(
  setup: SheetSetup,
  parts: {
    merges: string[];
    bars: { range: string; color: string }[];
    validations: Validation[];
    notes: CellNote[];
    filter: string | undefined;
    pages: PrintedPage[];
    hasCharts: boolean;
  },
): string {
  const merges = parts.merges.map((range) => `<mergeCell ref="${range}"/>`);
  const bars = parts.bars.map(
    ({ range, color }, index) =>
      `<conditionalFormatting sqref="${range}"><cfRule type="dataBar" priority="${index + 1}">` +
      `<dataBar minLength="0" maxLength="90"><cfvo type="num" val="0"/><cfvo type="max"/><color rgb="${color}"/></dataBar>` +
      '</cfRule></conditionalFormatting>',
  );
  const fit = setup.breaksPages
    ? `scale="${findScale(setup, parts.pages)}"`
    : `fitToWidth="${countPagesWide(setup)}" fitToHeight="0" pageOrder="overThenDown"`;
  const ends = parts.pages.slice(0, -1).map((page) => `<brk id="${page.lastRow}" max="16383" man="1"/>`);
  // the format prescribes this order
  return [
    '</sheetData>',
    parts.filter ? `<autoFilter ref="${parts.filter}"/>` : '',
    merges.length > 0 ? `<mergeCells count="${merges.length}">${merges.join('')}</mergeCells>` : '',
    ...bars,
    renderValidations(parts.validations, parts.notes),
    '<printOptions horizontalCentered="1"/>',
    '<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.6" header="0.3" footer="0.3"/>',
    `<pageSetup paperSize="9" ${fit} orientation="landscape"/>`,
    `<headerFooter><oddFooter>${escapeText(`&L&8${(setup.footer ?? '').replaceAll('&', '&&')}&C&8&A&R&8&P / &N`)}</oddFooter></headerFooter>`,
    ends.length > 0
      ? `<rowBreaks count="${ends.length}" manualBreakCount="${ends.length}">${ends.join('')}</rowBreaks>`
      : '',
    parts.hasCharts ? '<drawing r:id="rId1"/>' : '',
    '</worksheet>',
  ].join('');
}

type PrintedPage = { lastRow: number; heightPoints: number };

const ROW_HEIGHT_POINTS = 15;
/** A4 in landscape without the margins. */
const PAPER_POINTS = { width: 784, height: 516 };
/** The width of one character in Calibri, and in the wider font that takes its place where it is not installed. */
const CHARACTER_POINTS = 5.25;
const REPLACED_CHARACTER_POINTS = 6.4;
const SCALE_MIN = 10;

/** Below this scale a font of ten points is hard to read: the columns then take two pages side by side. */
const SCALE_READABLE = 0.65;

/** The number of pages that a row takes; each repeats the frozen columns. */
export function countPagesWide({ widths, breaksPages }: Pick<SheetSetup, 'widths' | 'breaksPages'>): number {
  const width = widths.reduce((sum, one) => sum + one, 0) * CHARACTER_POINTS;
  return breaksPages || PAPER_POINTS.width / width >= SCALE_READABLE ? 1 : 2;
}

/** The scale in percent at which the widest row and the fullest page fit on the paper; 100 at most. */
function findScale(setup: SheetSetup, pages: PrintedPage[]): number {
  const width = setup.widths.reduce((sum, one) => sum + one, 0) * REPLACED_CHARACTER_POINTS;
  const height = largest(pages.map((page) => page.heightPoints));
  const scale = Math.min(1, PAPER_POINTS.width / width, PAPER_POINTS.height / height);
  return Math.max(SCALE_MIN, Math.floor(scale * 100));
}
