/**
 * Reads a CSV of a bank by the columns that a person mapped for its account. Each row becomes one of the template's, which
 * `read-rows.ts` reads: lines above the header, totals and notes are left out as there. Nothing is guessed: a value that is not
 * written as the columns say is a fault by its line, and a header with other titles is not read.
 */
import { isDay } from '../domain/calendar.ts';
import { formatAmount, parseWrittenAmount } from '../domain/money.ts';
import { type BankCsv, CSV_COLUMNS_MAX, type CsvPart } from '../ledger/stated/check-bank-csv.ts';
import { parseCsv } from '../spreadsheet/parse-csv.ts';
import { type SheetCell, type SheetRow, UnreadableFileError } from '../spreadsheet/row.ts';
import { isBalanceText } from './balance-texts.ts';
import { fold } from './columns.ts';
import { BESIDE_ROWS_MAX, isFilled } from './find-header.ts';
import type { Table } from './read-rows.ts';
import { decodeCsv } from './read-table.ts';

/** Stands for a value that is not written as the columns say; no column takes it. */
export const UNREADABLE = '?';
/** The columns of the template that a row is written into, in their order. */
export const CSV_FIELDS = ['day', 'amount', 'text', 'number', 'identifier', 'balance'] as const;
type Field = (typeof CSV_FIELDS)[number];

/** A row that shows a balance, and is no line. */
export type BalanceRow = { line: number; day: string; cents: bigint; text: string };

/** Rows and words of a file that make no line: the rows that show a balance; each column's words beside amounts without a sign. */
export type Beside = { balances: BalanceRow[]; words: Map<number, Set<string>> };

/**
 * @param beside is filled while the rows are read.
 * @returns undefined: no row has the header's titles.
 */
export function shapeBankCsv(
  text: string,
  csv: BankCsv,
  titleOf: (field: Field) => string,
  { balances, words }: Beside,
): Table | undefined {
  const header = findCsvHeader(text, csv);
  if (header === undefined) return undefined;
  const shape = function* (): Generator<SheetRow, void, undefined> {
    for (const row of parseCsv(text, csv.separator)) {
      if (row.number < header) yield* isFilled(row) ? shapeAbove(row, csv) : [];
      else if (row.number === header) yield toRow(row.number, CSV_FIELDS.map(titleOf));
      else if (isFilled(row)) {
        noteSides(row, csv, words);
        yield* shapeRow(row, csv, balances);
      }
    }
  };
  return { rows: shape(), is1904: false, faults: [], separator: csv.separator };
}

/** Whether a file has a row with the titles of these columns. */
export function hasBankCsvHeader(bytes: Buffer, csv: BankCsv): boolean {
  try {
    return findCsvHeader(decodeCsv(bytes), csv) !== undefined;
  } catch (error) {
    if (error instanceof UnreadableFileError) return false;
    throw error;
  }
}

/** The titles of a row, without those at its end that are empty. */
export function listTitles({ cells }: SheetRow): string[] {
  const titles = Array.from(cells, (cell) => cell?.text.trim() ?? '').slice(0, CSV_COLUMNS_MAX + 1);
  while (titles.at(-1) === '') titles.pop();
  return titles;
}

function findCsvHeader(text: string, { separator, header }: BankCsv): number | undefined {
  const wanted = header.map(fold).join('\n');
  let left = BESIDE_ROWS_MAX;
  for (const row of parseCsv(text, separator)) {
    if (!isFilled(row)) continue;
    if (listTitles(row).map(fold).join('\n') === wanted) return row.number;
    if (--left === 0) return undefined;
  }
  return undefined;
}

/** A row above the header: only one that reads as a line may be one. */
function shapeAbove(row: SheetRow, csv: BankCsv): SheetRow[] {
  const shaped = [...shapeRow(row, csv, [])];
  const isLine = shaped.some(({ cells: [day, amount] }) =>
    [day, amount].every((cell) => cell && cell.text !== UNREADABLE),
  );
  return isLine ? shaped : [toRow(row.number, [UNREADABLE, UNREADABLE])];
}

function* shapeRow(row: SheetRow, csv: BankCsv, balances: BalanceRow[]): Generator<SheetRow, void, undefined> {
  const textOf = (part: CsvPart): string =>
    csv.parts
      .flatMap((one, index) => (one === part ? (row.cells[index]?.text.trim() ?? '') : []))
      .filter(Boolean)
      .join(' ');
  const written = textOf('day');
  const day = parseDay(written, csv.days);
  // a note, a total or a balance may stand in the first column
  const isWords = day === undefined && /\p{L}{3}/u.test(written.slice(0, WORDS_CHARS)) && textOf('text') === '';
  const text = isWords ? written : textOf('text');
  const cents = readCents(textOf, csv);
  const balance = readOne(textOf('balance'), csv);
  if (isBalanceText(text)) {
    balances.push({ line: row.number, day: day ?? '', cents: orZero(balance) || orZero(cents), text });
    return;
  }
  const values: Record<Field, string> = {
    day: isWords || written === '' ? '' : (day ?? UNREADABLE),
    amount: toText(cents),
    text,
    number: textOf('number'),
    identifier: textOf('identifier'),
    balance: toText(balance),
  };
  const extra = row.cells.slice(csv.header.length).map((cell) => cell?.text ?? '');
  yield toRow(row.number, [...CSV_FIELDS.map((field) => values[field]), ...extra]);
}

const WORDS_CHARS = 60;

function toRow(number: number, texts: string[]): SheetRow {
  return {
    number,
    cells: texts.map((text): SheetCell | undefined =>
      text === '' ? undefined : { kind: 'text', text, isFormula: false },
    ),
  };
}

/** Cents; undefined: nothing is written; `UNREADABLE`: something else is. */
type Read = bigint | typeof UNREADABLE | undefined;

function toText(read: Read): string {
  return typeof read === 'bigint' ? formatAmount(read) : (read ?? '');
}

function orZero(read: Read): bigint {
  return typeof read === 'bigint' ? read : 0n;
}

function readOne(text: string, { decimals }: BankCsv): Read {
  return text === '' ? undefined : (parseWrittenAmount(text, decimals)?.cents ?? UNREADABLE);
}

function readCents(textOf: (part: CsvPart) => string, csv: BankCsv): Read {
  if (csv.parts.includes('in')) return readPair(readOne(textOf('in'), csv), readOne(textOf('out'), csv));
  const text = textOf('amount');
  const written = parseWrittenAmount(text, csv.decimals);
  if (text === '' || !written) return text === '' ? undefined : UNREADABLE;
  const { cents, isSigned } = written;
  // D and C say the same at every bank
  if (csv.signs === 'reversed') return LETTER.test(text) ? UNREADABLE : -cents;
  if (!csv.parts.includes('side')) return cents;
  const side = SIDES.get(fold(textOf('side')));
  const isOther = isSigned && cents !== 0n && cents < 0n !== (side === 'out');
  if (side === undefined || isOther) return UNREADABLE;
  return side === 'out' ? -abs(cents) : abs(cents);
}

const LETTER = /[CD]/i;

/** Money out may have a sign or none; a column that is not used may hold zero. */
function readPair(moneyIn: Read, moneyOut: Read): Read {
  if (moneyIn === UNREADABLE || moneyOut === UNREADABLE) return UNREADABLE;
  if (moneyIn === undefined && moneyOut === undefined) return undefined;
  const [gained, spent] = [orZero(moneyIn), abs(orZero(moneyOut))];
  if (gained < 0n || (gained !== 0n && spent !== 0n)) return UNREADABLE;
  return gained - spent;
}

function abs(cents: bigint): bigint {
  return cents < 0n ? -cents : cents;
}

const SIDES = new Map<string, 'in' | 'out'>([
  ...['d', 'db', 'deb', 'debito', 'debit', '-', 'saida'].map((word) => [word, 'out'] as const),
  ...['c', 'cr', 'cred', 'credito', 'credit', '+', 'entrada'].map((word) => [word, 'in'] as const),
]);

/** Whether the values of a column are D or C, or other words for them. One of dashes alone is empty. */
export function isSideColumn(values: string[]): boolean {
  const words = new Set(values.map(fold).filter(Boolean));
  return words.size > (words.has('-') ? 1 : 0) && [...words].every((word) => SIDES.has(word));
}

function noteSides({ cells }: SheetRow, { parts, decimals }: BankCsv, words: Beside['words']): void {
  const amount = parseWrittenAmount(cells[parts.indexOf('amount')]?.text ?? '', decimals);
  for (const [index, cell] of amount ? cells.entries() : []) {
    const known = words.get(index) ?? new Set();
    const word = known.has(UNREADABLE) ? '' : fold(cell?.text ?? '');
    if (word !== '') words.set(index, known.add(SIDES.has(word) && !amount?.isSigned ? word : UNREADABLE));
  }
}

/** The title, or else the number, of a column whose D and C nothing reads, and which says otherwise than amounts without a sign are read. */
export function findUnreadSide({ header, parts, signs }: BankCsv, words: Beside['words']): string | undefined {
  if (parts.includes('side')) return undefined;
  const other = signs === 'reversed' ? 'in' : 'out';
  const at = header.findIndex((_, index) => {
    const said = [...(words.get(index) ?? [])];
    return isSideColumn(said) && said.some((word) => SIDES.get(word) === other);
  });
  return at === -1 ? undefined : header[at] || String(at + 1);
}

/** The place of day, month and year among the digits of each form; a time may follow after a blank. */
const DAY_FORMS: Record<BankCsv['days'], RegExp> = {
  'dd/mm/yyyy': /^(?<d>\d{2})\/(?<m>\d{2})\/(?<y>\d{4})$/,
  'dd/mm/yy': /^(?<d>\d{2})\/(?<m>\d{2})\/(?<y>\d{2})$/,
  'dd-mm-yyyy': /^(?<d>\d{2})-(?<m>\d{2})-(?<y>\d{4})$/,
  'dd.mm.yyyy': /^(?<d>\d{2})\.(?<m>\d{2})\.(?<y>\d{4})$/,
  'yyyy-mm-dd': /^(?<y>\d{4})-(?<m>\d{2})-(?<d>\d{2})$/,
  yyyymmdd: /^(?<y>\d{4})(?<m>\d{2})(?<d>\d{2})$/,
  'mm/dd/yyyy': /^(?<m>\d{2})\/(?<d>\d{2})\/(?<y>\d{4})$/,
};
const TIME = /^\d{2}:\d{2}(?::\d{2})?$/;

function parseDay(text: string, form: BankCsv['days']): string | undefined {
  const [date = '', time = '00:00', more] = text.split(/[ T]/, 3);
  const { y = '', m = '', d = '' } = DAY_FORMS[form].exec(date)?.groups ?? {};
  const day = `${y.length === 2 ? '20' : ''}${y}-${m}-${d}`;
  return isDay(day) && TIME.test(time) && more === undefined ? day : undefined;
}
