/**
 * Reads the rows of an XLSX or a CSV by its header. A stranger may have made the file: everything in it is limited, and what
 * is not a plain value (a formula, merged cells) is a fault by its cell.
 */
import { isUtf16 } from '../domain/person/decode-text.ts';
import { takeTurn } from '../runtime/take-turns.ts';
import { decodeCharset } from '../spreadsheet/decode-charset.ts';
import { openWorkbook, type SheetFacts, type Workbook } from '../spreadsheet/open-workbook.ts';
import { sourceOfBytes } from '../spreadsheet/open-zip.ts';
import { parseCsv } from '../spreadsheet/parse-csv.ts';
import { readSheet, type SheetContext } from '../spreadsheet/read-sheet.ts';
import { readDateStyles, readSharedTexts } from '../spreadsheet/read-texts-and-styles.ts';
import { type SheetCell, type SheetRow, UnreadableFileError } from '../spreadsheet/row.ts';
import { message } from '../texts/messages.ts';
import { type Columns, findHeader } from './find-header.ts';
import type { ImportFault, ReadRows } from './import-kind.ts';
import { readRows, type Table, type Values } from './read-rows.ts';

/** A file of 2,000 rows takes 100 KiB as XLSX. */
export const TABLE_BYTES_MAX = 1024 * 1024;
export const TABLE_LIMITS = {
  bytesMax: TABLE_BYTES_MAX,
  rowsMax: 2_000,
  /** An XLSX, unpacked: 2,000 rows of ten columns take 2 MiB. */
  unpackedBytesMax: 16 * 1024 * 1024,
  partsMax: 200,
  /** Texts that cells share. */
  textsMax: 100_000,
  cellsMax: 1_000_000,
  /** Characters of all cells, a shared text counted in each. */
  charsMax: 16 * 1024 * 1024,
};

export type TableLimits = typeof TABLE_LIMITS;
/** Limits of a kind whose files are lists of a whole company. */
export const LARGE_TABLE_LIMITS: TableLimits = {
  ...TABLE_LIMITS,
  bytesMax: 8 * 1024 * 1024,
  rowsMax: 20_000,
  unpackedBytesMax: 64 * 1024 * 1024,
  charsMax: 32 * 1024 * 1024,
};

/**
 * @param open makes a table of the text of a CSV of another form; undefined: it has none.
 * @returns a value for each column of each row, null for an empty cell; rows with a fault are left out.
 */
export async function readTable(
  bytes: Buffer,
  columns: Columns,
  limits: TableLimits = TABLE_LIMITS,
  open: (text: string) => Table | undefined | Promise<Table> = (text) => openCsv(text, columns),
): Promise<ReadRows<Values>> {
  try {
    if (bytes.length > limits.bytesMax)
      throw new UnreadableFileError(message('file.too_large', { n: limits.bytesMax }));
    await takeTurn();
    const table = isZip(bytes) ? await openXlsx(bytes, columns, limits) : await open(decodeCsv(bytes));
    if (!table) return { rows: [], faults: [{ row: 0, column: null, kind: 'csv_header' }], leftOut: [] };
    return await readRows(table, columns, limits.rowsMax);
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    return { rows: [], faults: [{ row: 0, column: null, kind: 'unreadable', said: error.said }], leftOut: [] };
  }
}

function isZip(bytes: Buffer): boolean {
  return bytes.subarray(0, 2).toString('latin1') === 'PK';
}

async function openXlsx(bytes: Buffer, columns: Columns, limits: TableLimits): Promise<Table> {
  const workbook = await openWorkbook(sourceOfBytes(bytes), limits);
  const context = {
    sharedTexts: await readSharedTexts(workbook, limits.textsMax),
    dateStyles: await readDateStyles(workbook),
    limits,
  };
  const faults: ImportFault[] = [];
  const rows = readSheet(workbook, await chooseSheet(workbook, columns, context), {
    ...context,
    onMerge(range) {
      // the other cells of a merge would pass for empty; merges come after the rows
      if (faults.length < MERGED_LISTED_MAX && !endsAbove(range, table.header)) faults.push(describeMerge(range));
    },
  });
  const table: Table = { rows: withShortNumbers(rows), is1904: workbook.is1904, faults };
  return table;
}

/** The sheet with the header, of those that are not hidden; the first one if none has it. */
async function chooseSheet(workbook: Workbook, columns: Columns, context: SheetContext): Promise<SheetFacts> {
  const seen = workbook.sheets.filter((one) => !one.isHidden);
  const [first] = seen;
  if (!first) throw new UnreadableFileError(message('file.no_sheet'));
  if (seen.length === 1) return first;
  const found: SheetFacts[] = [];
  for (const one of seen) if (await findHeader(readSheet(workbook, one, context), columns)) found.push(one);
  const [chosen = first, other] = found;
  const numberOf = (one: SheetFacts): number => workbook.sheets.indexOf(one) + 1;
  if (other)
    throw new UnreadableFileError(message('file.two_sheets', { one: numberOf(chosen), other: numberOf(other) }));
  return chosen;
}

const MERGED_LISTED_MAX = 50;
const RANGE_CHARS_MAX = 20;

const RANGE = /^[A-Z]{1,3}[1-9]\d{0,6}:[A-Z]{1,3}([1-9]\d{0,6})$/;

/** Whether a merge has no cell of the table: a title above the header may have one. */
function endsAbove(range: string, header = 0): boolean {
  const [, last] = RANGE.exec(range) ?? [];
  return last !== undefined && Number(last) < header;
}

function describeMerge(range: string): ImportFault {
  const [row = '0'] = /\d{1,7}/.exec(range.slice(0, RANGE_CHARS_MAX)) ?? [];
  return { row: Number(row), column: null, kind: 'merged', value: range.slice(0, RANGE_CHARS_MAX) };
}

/**
 * Writes each number as a spreadsheet shows it: Excel stores 1.1 as `1.1000000000000001`. The shortest decimal text of a
 * double of up to 15 digits is the number that was typed.
 */
async function* withShortNumbers(rows: AsyncIterable<SheetRow>): AsyncGenerator<SheetRow, void, undefined> {
  for await (const row of rows) {
    const isNumber = (cell: SheetCell): boolean => cell.kind === 'number' || cell.kind === 'date';
    yield {
      ...row,
      cells: row.cells.map((cell) => (cell && isNumber(cell) ? { ...cell, text: String(Number(cell.text)) } : cell)),
    };
  }
}

const OLD_EXCEL = 'd0cf11e0';
const SEPARATORS = [';', ',', '\t'];

/** The text of a CSV. @throws UnreadableFileError for a file that is none. */
export function decodeCsv(bytes: Buffer): string {
  if (bytes.subarray(0, 4).toString('hex') === OLD_EXCEL) throw new UnreadableFileError(message('file.old_excel'));
  if (isUtf16(bytes)) throw new UnreadableFileError(message('file.utf16'));
  if (bytes.includes(0)) throw new UnreadableFileError(message('file.foreign'));
  return withoutEnd(decodeCharset(bytes)).replace(/^\uFEFF/, '');
}

async function openCsv(whole: string, columns: Columns): Promise<Table> {
  const [declaration = '', declared] = DECLARED.exec(whole.slice(0, DECLARATION_CHARS_MAX)) ?? [];
  // the line stays, empty: rows keep their numbers
  const text = whole.slice(declaration.length);
  const separator = declared?.replace('\\t', '\t') ?? (await findSeparator(text, columns));
  return { rows: parseCsv(text, separator), is1904: false, faults: [], separator };
}

/** The line `sep=;` with which Excel is shown the separator, also in quotes. */
const DECLARED = /^"?sep="?(\\t|[^\p{L}\p{N}"' \r\n])"?[;,\t]{0,40}(?=[\r\n])/iu;
const DECLARATION_CHARS_MAX = 60;

/** Without the Ctrl-Z at the end of a file of old systems. */
function withoutEnd(text: string): string {
  const [own = '', ...rest] = text.split('\u001a');
  return rest.join('').trim() === '' ? own : text;
}

/** The quotes may be wrong with another separator than the file's. */
async function findSeparator(text: string, columns: Columns): Promise<string> {
  for (const separator of SEPARATORS) {
    try {
      if (await findHeader(parseCsv(text, separator), columns)) return separator;
    } catch (error) {
      if (!(error instanceof UnreadableFileError)) throw error;
    }
  }
  return ';';
}
