/**
 * Reads the rows of an XLSX or a CSV by its header. A stranger may have made the file: everything in it is limited, and what
 * is not a plain value (a formula, merged cells) is a fault by its cell.
 */
import { isUtf16 } from '../domain/person/decode-text.ts';
import { takeTurn } from '../runtime/take-turns.ts';
import { decodeCharset } from '../spreadsheet/decode-charset.ts';
import { openWorkbook } from '../spreadsheet/open-workbook.ts';
import { sourceOfBytes } from '../spreadsheet/open-zip.ts';
import { parseCsv } from '../spreadsheet/parse-csv.ts';
import { readSheet } from '../spreadsheet/read-sheet.ts';
import { readDateStyles, readSharedTexts } from '../spreadsheet/read-texts-and-styles.ts';
import { type SheetCell, type SheetRow, UnreadableFileError } from '../spreadsheet/row.ts';
import { type Columns, findHeader } from './find-header.ts';
import type { ImportFault, ReadRows } from './import-kind.ts';
import { readRows, type Table, type Values } from './read-rows.ts';

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

/** @returns a value for each column of each row, null for an empty cell; rows with a fault are left out. */
export async function readTable(bytes: Buffer, columns: Columns): Promise<ReadRows<Values>> {
  try {
    if (bytes.length > TABLE_BYTES_MAX) throw new UnreadableFileError(`it has more than ${TABLE_BYTES_MAX} bytes`);
    await takeTurn();
    const table = isZip(bytes) ? await openXlsx(bytes) : openCsv(bytes, columns);
    return await readRows(table, columns, TABLE_LIMITS.rowsMax);
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    return { rows: [], faults: [{ row: 0, column: null, kind: 'unreadable', value: error.message }], leftOut: [] };
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
  return { rows: withShortNumbers(rows), is1904: workbook.is1904, faults };
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
  const whole = withoutEnd(decodeCharset(bytes)).replace(/^\uFEFF/, '');
  const [declaration = '', declared] = DECLARED.exec(whole.slice(0, DECLARATION_CHARS_MAX)) ?? [];
  // the line stays, empty: rows keep their numbers
  const text = whole.slice(declaration.length);
  const found = SEPARATORS.find((one) => hasHeader(text, one, columns)) ?? ';';
  const separator = declared === undefined ? found : declared.replace('\\t', '\t');
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

/** False also where the quotes are wrong, as they can be with another separator than the file's. */
function hasHeader(text: string, separator: string, columns: Columns): boolean {
  try {
    return findHeader(parseCsv(text, separator), columns) !== undefined;
  } catch (error) {
    if (error instanceof UnreadableFileError) return false;
    throw error;
  }
}
