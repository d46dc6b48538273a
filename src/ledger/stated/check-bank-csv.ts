import { DECIMAL_MARKS, type DecimalMark } from '../../domain/money.ts';
import { refuseField } from '../../texts/refuse.ts';

export const CSV_SEPARATORS = [';', ',', '\t', '|'] as const;
/** How days are written; a time may follow. */
export const CSV_DAYS = [
  ...(['dd/mm/yyyy', 'dd/mm/yy', 'dd-mm-yyyy', 'dd.mm.yyyy'] as const),
  ...(['yyyy-mm-dd', 'yyyymmdd', 'mm/dd/yyyy'] as const),
] as const;
export const CSV_DECIMALS = DECIMAL_MARKS;
/** `reversed`: an amount without a sign left the account. */
export const CSV_SIGNS = ['as_written', 'reversed'] as const;
/** `side`: D or C beside an amount; `balance`: after the row, or at the end of its day. */
export const CSV_PARTS = [
  ...(['day', 'amount', 'in', 'out', 'side', 'text', 'number', 'identifier', 'balance'] as const),
] as const;
export const CSV_COLUMNS_MAX = 30;
export const CSV_TITLE_CHARS_MAX = 200;

export type CsvPart = (typeof CSV_PARTS)[number];

/** How to read a CSV of a bank. */
export type BankCsv = {
  separator: (typeof CSV_SEPARATORS)[number];
  /** The titles of all columns in their order: a file with others is not read. */
  header: string[];
  /** The meaning of each column; null: it is not read. Texts are joined. */
  parts: (CsvPart | null)[];
  days: (typeof CSV_DAYS)[number];
  decimals: DecimalMark;
  signs: (typeof CSV_SIGNS)[number];
};

/** @throws ConfereError `invalid_request` for columns that make no lines. */
export function checkBankCsv({ header, parts, signs }: BankCsv): void {
  const count = (part: CsvPart): number => parts.filter((one) => one === part).length;
  const isOnce = CSV_PARTS.every((part) => part === 'text' || count(part) <= 1);
  const [amounts, ins, outs, sides] = [count('amount'), count('in'), count('out'), count('side')];
  const isOfOne = amounts === 1 && ins + outs === 0;
  const isOfTwo = amounts === 0 && ins + outs === 2 && sides === 0;
  const isReversed = signs === 'reversed' && (isOfTwo || sides > 0);
  if (header.length !== parts.length || !isOnce || count('day') !== 1 || !(isOfOne || isOfTwo) || isReversed)
    throw refuseField('csv', 'csv_parts');
}
