/**
 * Reads the rows of any sheet by the events of an XML parser. A row or a cell without a position follows the one before it. A
 * number keeps the text that is stored.
 */
import type { SheetFacts, Workbook } from './open-workbook.ts';
import { readXml, type XmlEvent } from './read-xml.ts';
import { type SheetCell, type SheetRow, UnreadableFileError } from './row.ts';

/** `chars`: of all texts of the cells, a shared one counted in each cell. */
export type SheetLimits = { cellsMax: number; charsMax: number };

export type SheetContext = {
  /** The texts that cells share, as `readSharedTexts` returns them. */
  sharedTexts?: readonly string[];
  /** The styles that show a date, as `readDateStyles` returns them. */
  dateStyles?: ReadonlySet<string>;
  limits?: SheetLimits;
  /** Receives the range of each merge, after all rows. */
  onMerge?: (range: string) => void;
};

type Attributes = Readonly<Record<string, string>>;
/** A cell under construction. `value` and `text`: its stored value and its own text, if it has them. */
type OpenCell = { column: number; type: string; style: string; value?: string; text?: string; isFormula: boolean };
type OpenRow = SheetRow & { hasNumber: boolean; nextColumn: number };

const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;
const UNLIMITED: SheetLimits = { cellsMax: Number.POSITIVE_INFINITY, charsMax: Number.POSITIVE_INFINITY };

/** @throws UnreadableFileError. */
export async function* readSheet(
  { zip }: Pick<Workbook, 'zip'>,
  { part }: Pick<SheetFacts, 'part'>,
  context: SheetContext = {},
): AsyncGenerator<SheetRow, void, undefined> {
  const collect = collectRows(context);
  for await (const events of readXml(zip, part)) {
    for (const event of events) {
      const row = collect(event);
      if (row) yield row;
    }
  }
}

/** @returns a function that takes each event, and returns the row that it ends. */
function collectRows(context: SheetContext): (event: XmlEvent) => SheetRow | undefined {
  const { onMerge, limits = UNLIMITED } = context;
  const left = { cells: limits.cellsMax, chars: limits.charsMax };
  let lastRow = 0;
  let row: OpenRow | undefined;
  let cell: OpenCell | undefined;

  function open(name: string, parent: string, attributes: Attributes): void {
    const isRow = name === 'row' && parent === 'sheetData';
    const isCell = name === 'c' && parent === 'row' && row;
    if ((isRow || isCell) && --left.cells < 0)
      throw new UnreadableFileError(`it has more than ${limits.cellsMax} rows and cells`);
    if (isRow) row = openRow(attributes, lastRow);
    else if (isCell && row) {
      cell = openCell(attributes, row, lastRow);
    } else if (name === 'mergeCell' && parent === 'mergeCells') onMerge?.(attributes.ref ?? '');
    else if (cell && parent === 'c') {
      if (name === 'f') cell.isFormula = true;
      else if (name === 'v') cell.value ??= '';
      else if (name === 'is') cell.text ??= '';
    }
  }

  function close(name: string, parent: string): SheetRow | undefined {
    if (name === 'c' && parent === 'row' && row && cell) {
      const made = toCell(cell, row.number, context);
      left.chars -= made?.text.length ?? 0;
      if (left.chars < 0) throw new UnreadableFileError(`its cells have more than ${limits.charsMax} characters`);
      if (made) row.cells[cell.column] = made;
      cell = undefined;
    }
    if (name !== 'row' || parent !== 'sheetData' || !row) return undefined;
    const { number, cells, isHidden } = row;
    lastRow = number;
    row = undefined;
    return isHidden ? { number, cells, isHidden } : { number, cells };
  }

  return (event) => {
    if (event.kind === 'open') open(event.name, event.parent, event.attributes);
    else if (event.kind === 'close') return close(event.name, event.parent);
    else if (cell && event.parent === 'v') cell.value += event.text;
    // runs of a text are joined; those of its pronunciation are in `rPh`
    else if (cell && event.parent === 't' && (event.around === 'is' || event.around === 'r')) cell.text += event.text;
    return undefined;
  };
}

function openRow({ r, hidden }: Attributes, lastRow: number): OpenRow {
  const row = {
    number: r === undefined ? lastRow + 1 : Number(r),
    cells: [],
    isHidden: hidden === '1' || hidden === 'true',
    hasNumber: r !== undefined,
    nextColumn: 0,
  };
  checkOrder(row.number, lastRow);
  return row;
}

function checkOrder(row: number, lastRow: number): void {
  if (!Number.isInteger(row) || row > ROWS_MAX) throw new UnreadableFileError('a row is damaged');
  if (row <= lastRow) throw new UnreadableFileError(`row ${row} is out of order`);
}

const ADDRESS = /^([A-Z]{1,3})([1-9]\d{0,6})$/;

function openCell({ r, t = 'n', s = '0' }: Attributes, row: OpenRow, lastRow: number): OpenCell {
  const [, letters = '', number] = (r === undefined ? null : ADDRESS.exec(r)) ?? [];
  if (number !== undefined && !row.hasNumber) {
    row.number = Number(number);
    checkOrder(row.number, lastRow);
  }
  row.hasNumber = true;
  const column = r === undefined ? row.nextColumn : countColumns(letters) - 1;
  if (column < 0 || column >= COLUMNS_MAX || (number !== undefined && Number(number) !== row.number))
    throw new UnreadableFileError(`row ${row.number} has a damaged cell`);
  if (column < row.nextColumn) throw new UnreadableFileError(`row ${row.number} has cells out of order`);
  row.nextColumn = column + 1;
  return { column, type: t, style: s, isFormula: false };
}

/** `A` is 1, `AA` is 27. */
export function countColumns(letters: string): number {
  let count = 0;
  for (let index = 0; index < letters.length; index++) count = count * 26 + letters.charCodeAt(index) - 64;
  return count;
}

const NUMBER = /^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?$/;

/** @returns undefined for a cell without a value. */
function toCell(
  { type, style, value, text, isFormula }: OpenCell,
  row: number,
  { sharedTexts = [], dateStyles }: SheetContext,
): SheetCell | undefined {
  if (text !== undefined) return { kind: 'text', text, isFormula };
  if (value === undefined) return isFormula ? { kind: 'other', text: '', isFormula } : undefined;
  if (type === 's') {
    const shared = /^\s*\d{1,9}\s*$/.test(value) ? sharedTexts[Number(value)] : undefined;
    if (shared === undefined) throw new UnreadableFileError(`row ${row} has a text that the workbook lacks`);
    return { kind: 'text', text: shared, isFormula };
  }
  if (type === 'str') return { kind: 'text', text: value, isFormula };
  if (type === 'd') throw new UnreadableFileError('its dates are stored in a form that is not supported');
  const number = value.trim();
  if (type !== 'n' || !NUMBER.test(number)) return number === '' ? undefined : { kind: 'other', text: '', isFormula };
  return { kind: dateStyles?.has(style) ? 'date' : 'number', text: number, isFormula };
}
