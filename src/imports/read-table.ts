/**
 * Reads the rows of an XLSX or a CSV by its header. A stranger may have made the file: everything in it is limited, and what
 * is not a plain value (a formula, merged cells) is a fault by its cell.
 */
import { isUtf16 } from '../domain/person/decode-text.ts';
import { decodeCharset } from '../spreadsheet/decode-charset.ts';
import { openWorkbook } from '../spreadsheet/open-workbook.ts';
import { sourceOfBytes } from '../spreadsheet/open-zip.ts';
import { parseCsv } from '../spreadsheet/parse-csv.ts';
import { readSheet } from '../spreadsheet/read-sheet.ts';
import { readDateStyles, readSharedTexts } from '../spreadsheet/read-texts-and-styles.ts';
import { type SheetCell, type SheetRow, UnreadableFileError } from '../spreadsheet/row.ts';
import { type AnyColumn, fold } from './columns.ts';
import type { CellFault, ImportedRow, ImportFault } from './import-kind.ts';

/** A file of 2,000 rows takes 100 KiB as XLSX. */
export const TABLE_BYTES_MAX = 1024 * 1024;
export const TABLE_LIMITS = {
  rowsMax: 2_000,
  /** Of an XLSX, unpacked: 2,000 rows of ten columns take 2 MiB. */
  unpackedBytesMax: 16 * 1024 * 1024,
  partsMax: 200,
  /** Texts that cells share. */
  textsMax: 100_000,
  cellsMax: 1_000_000,
  /** Characters of all cells, a shared text counted in each. */
  charsMax: 16 * 1024 * 1024,
};

type Columns = Record<string, AnyColumn>;
type Values = Record<string, unknown>;
type Table = {
  rows: AsyncIterable<SheetRow> | Iterable<SheetRow>;
  is1904: boolean;
  /** Faults of the sheet as a whole; filled while its rows are read. */
  faults: ImportFault[];
  /** Whether each field stands between separators: a CSV. Cells of a sheet may be empty only because they have a style. */
  isSeparated: boolean;
};

/** @returns a value for each column of each row, null for an empty cell; rows with a fault are left out. */
export async function readTable(
  bytes: Buffer,
  columns: Columns,
): Promise<{ rows: ImportedRow<Values>[]; faults: ImportFault[] }> {
  try {
    if (bytes.length > TABLE_BYTES_MAX) throw new UnreadableFileError(`it has more than ${TABLE_BYTES_MAX} bytes`);
    const table = isZip(bytes) ? await openXlsx(bytes) : openCsv(bytes, columns);
    return await readRows(table, columns);
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    return { rows: [], faults: [{ row: 0, column: null, kind: 'unreadable', value: error.message }] };
  }
}

function isZip(bytes: Buffer): boolean {
  return bytes.subarray(0, 2).toString('latin1') === 'PK';
}

/** The first sheet that is not hidden. */
async function openXlsx(bytes: Buffer): Promise<Table> {
  const workbook = await openWorkbook(sourceOfBytes(bytes), TABLE_LIMITS);
  const sheet = workbook.sheets.find((one) => !one.isHidden);
  if (!sheet) throw new UnreadableFileError('it has no sheet');
  const faults: ImportFault[] = [];
  const rows = readSheet(workbook, sheet, {
    sharedTexts: await readSharedTexts(workbook, TABLE_LIMITS.textsMax),
    dateStyles: await readDateStyles(workbook),
    limits: TABLE_LIMITS,
    onMerge(range) {
      // the other cells of a merge would pass for empty
      if (faults.length < MERGED_LISTED_MAX) faults.push(describeMerge(range));
    },
  });
  return { rows: withShortNumbers(rows), is1904: workbook.is1904, faults, isSeparated: false };
}

const MERGED_LISTED_MAX = 50;
const RANGE_CHARS_MAX = 20;

function describeMerge(range: string): ImportFault {
  const [row = '0'] = /\d{1,7}/.exec(range.slice(0, RANGE_CHARS_MAX)) ?? [];
  return { row: Number(row), column: null, kind: 'merged', value: range.slice(0, RANGE_CHARS_MAX) };
}

/**
 * Writes each number as a spreadsheet shows it: Excel stores 1.1 as `1.1000000000000001`. The shortest decimal text of a
 * double of up to 15 digits is the number that was typed.
 */
async function* withShortNumbers(rows: AsyncIterable<SheetRow>): AsyncGenerator<SheetRow, void, undefined> {
  for await (const { number, cells } of rows) {
    const isNumber = (cell: SheetCell): boolean => cell.kind === 'number' || cell.kind === 'date';
    yield {
      number,
      cells: cells.map((cell) => (cell && isNumber(cell) ? { ...cell, text: String(Number(cell.text)) } : cell)),
    };
  }
}

const OLD_EXCEL = 'd0cf11e0';
const SEPARATORS = [';', ',', '\t'];

function openCsv(bytes: Buffer, columns: Columns): Table {
  if (bytes.subarray(0, 4).toString('hex') === OLD_EXCEL)
    throw new UnreadableFileError('it is a file of an old Excel: save it as XLSX');
  if (isUtf16(bytes)) throw new UnreadableFileError('it is in UTF-16: save it as a CSV in UTF-8, or as XLSX');
  if (bytes.includes(0)) throw new UnreadableFileError('it is neither an XLSX nor a CSV');
  const text = decodeCharset(bytes).replace(/^\uFEFF/, '');
  const separator = SEPARATORS.find((one) => {
    const header = readHeader(text, one);
    return header !== undefined && findColumns(header, columns) !== undefined;
  });
  return { rows: parseCsv(text, separator ?? ';'), is1904: false, faults: [], isSeparated: true };
}

/** @returns undefined where the quotes are wrong, as they can be with another separator than the file's. */
function readHeader(text: string, separator: string): SheetRow | undefined {
  try {
    return parseCsv(text, separator).next().value ?? undefined;
  } catch (error) {
    if (error instanceof UnreadableFileError) return undefined;
    throw error;
  }
}

async function readRows(table: Table, columns: Columns) {
  const faults: ImportFault[] = [];
  const rows: ImportedRow<Values>[] = [];
  let names: string[] | undefined;
  let fieldsMax = Number.POSITIVE_INFINITY;
  let count = 0;
  for await (const row of table.rows) {
    const filled = row.cells.some((cell) => !isEmpty(cell));
    if (!filled) continue;
    if (!names) {
      names = findColumns(row, columns);
      // an unquoted 1500,75 in a file with commas is two fields
      if (table.isSeparated) fieldsMax = row.cells.length;
      if (names) continue;
      faults.push({ row: row.number, column: null, kind: 'header', value: listHeader(columns) });
      break;
    }
    if (++count > TABLE_LIMITS.rowsMax) {
      faults.push({ row: row.number, column: null, kind: 'too_many_rows', value: TABLE_LIMITS.rowsMax });
      break;
    }
    const read = readRow(row, names, columns, table);
    if (row.cells.length > fieldsMax && !read.faults.some(({ kind }) => kind === 'extra_cell'))
      read.faults.push({ row: row.number, column: null, kind: 'extra_cell' });
    if (read.faults.length > 0) faults.push(...read.faults);
    else rows.push({ number: row.number, value: read.values });
  }
  faults.unshift(...table.faults);
  if (count === 0 && faults.length === 0) faults.push({ row: 0, column: null, kind: 'no_rows' });
  return { rows, faults };
}

/** @returns the name of each column of the file; undefined if one is unknown, repeated or missing. */
function findColumns(header: SheetRow, columns: Columns): string[] | undefined {
  const cells = [...header.cells];
  while (cells.length > 0 && isEmpty(cells.at(-1))) cells.pop();
  if (cells.length > Object.keys(columns).length) return undefined;
  const names = Array.from(cells, (cell) => {
    const title = fold(cell?.text ?? '');
    return Object.keys(columns).find((name) =>
      Object.values(columns[name]?.titles ?? {}).some((one) => fold(one) === title),
    );
  });
  const known = names.flatMap((name) => name ?? []);
  const isWhole = Object.entries(columns).every(([name, { isRequired }]) => !isRequired || known.includes(name));
  return isWhole && known.length === names.length && new Set(known).size === known.length ? known : undefined;
}

/** The columns as a template has them; those in brackets may be left out. */
function listHeader(columns: Columns): string {
  return Object.values(columns)
    .map(({ titles, isRequired }) => (isRequired ? titles['pt-BR'] : `[${titles['pt-BR']}]`))
    .join('; ');
}

function readRow({ number: row, cells }: SheetRow, names: string[], columns: Columns, { is1904 }: Table) {
  const values: Values = Object.fromEntries(Object.keys(columns).map((name) => [name, null]));
  const faults: ImportFault[] = [];
  for (const [index, cell] of cells.entries()) {
    if (cell === undefined || isEmpty(cell)) continue;
    const name = names[index];
    const column = name === undefined ? undefined : columns[name];
    if (name === undefined || column === undefined) {
      faults.push({ row, column: null, kind: 'extra_cell' });
      continue;
    }
    const parsed = parseCell(cell, column, is1904);
    if ('fault' in parsed) faults.push({ row, column: name, ...parsed.fault });
    else values[name] = parsed.value;
  }
  for (const [name, { isRequired }] of Object.entries(columns)) {
    if (isRequired && values[name] === null && !faults.some((fault) => fault.column === name))
      faults.push({ row, column: name, kind: 'missing' });
  }
  return { values, faults };
}

function parseCell(cell: SheetCell, column: AnyColumn, is1904: boolean): { value: unknown } | { fault: CellFault } {
  if (cell.isFormula) return { fault: { kind: 'formula' } };
  if (cell.kind === 'other') return { fault: { kind: 'other_cell' } };
  return column.parse(cell, { is1904 });
}

/** An error is not empty. */
function isEmpty(cell: SheetCell | undefined): boolean {
  return cell === undefined || (cell.kind === 'text' && !cell.isFormula && cell.text.trim() === '');
}
