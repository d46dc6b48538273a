import type { Role } from '../access/roles.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { ConfereError, groupFaults } from '../domain/errors.ts';
import type { Language } from '../domain/language/language.ts';
import type { BankImport } from '../ledger/bank/import-bank-file.ts';
import { BANK_QUESTIONS, STATEMENT_FAULTS, type StatementFault } from '../ledger/bank/statement-faults.ts';
import type { AccountFault } from '../ledger/stated/check-accounts.ts';
import { refusal } from '../texts/refuse.ts';
import { describeOfxFault, type OfxFault } from './ofx/ofx-faults.ts';

/** The faults of a file, in words; `{value}` is the fault's value. */
export const IMPORT_FAULTS = {
  unreadable: '{value}',
  header: 'the header is {value}',
  no_rows: 'the file has no rows',
  too_many_rows: 'at most {value} rows are allowed',
  missing: 'is required',
  too_long: 'must have at most {value} characters',
  not_money: 'must be an amount such as 1234.56, with at most two decimals',
  zero: 'must not be zero',
  not_account: 'must be bank, branch and number with / between: 341/1234/56789-0',
  balance_row: 'shows a balance: leave the row out',
  not_day: 'must be a day: 2026-11-20, 20/11/2026 or a date of the spreadsheet',
  not_moment:
    'must be a day and a time: 2026-11-20 18:00:00, 20/11/2026 18:00 or a date of the spreadsheet with its time; midnight in a cell of text',
  not_choice: 'must be one of {value}',
  split_amount: 'may go on in the next field: write "10,50" in quotes, or 10.50',
  stray_quotes: 'holds separators and the end of a line: quotes that belong to no field may hold rows',
  month_first:
    'may be month/day: the rows are days apart so, and months apart as day/month. Write the days as 2026-11-20',
  not_text: 'is a number with decimals, or of more than 15 digits: format the cell as text and type it again',
  is_scientific:
    'is a number in scientific notation, whose digits are lost: format the column as text and type it again',
  sign_twice: 'has a sign, and D/C says the direction too: write it without a sign',
  above_header: 'stands above the header: move it below, or delete it',
  total_row: 'is a total between rows: delete it',
  total_differs: 'is the total, and the rows add up to {value}: add the rows that are missing, or delete it',
  is_date: 'is a date of the spreadsheet: format the cell as text and type it again',
  hidden_row: 'is hidden: show it, or delete it',
  formula: 'has a formula: paste its value',
  merged: 'belongs to merged cells {value}: split them',
  other_cell: 'has an error, or a value of another type',
  extra_cell: 'has more fields than the header',
  booked: 'equals {value}, which is booked already: allow_equal=true (--allow-equal) imports it too',
  refused: '{value}',
  ofx: '{value}',
  statement: '{value}',
} as const;
type FaultKind = keyof typeof IMPORT_FAULTS;

/**
 * A fault of a row and one of its columns. `row` is its number in the file, 0 for the file as a whole; `column` is the
 * column's name in the code, null for the row as a whole.
 */
export type ImportFault = {
  row: number;
  column: string | null;
  kind: FaultKind;
  value?: string | number;
  /** The field that a refused change named, or the account's fault; `value` is the refusal's message in English. */
  field?: string;
  account?: AccountFault;
  /** The fault in an OFX, which has lines in place of rows and columns. */
  ofx?: OfxFault;
  /** The fault in a statement of the bank, or in a line of it. */
  statement?: StatementFault;
};

/** A cell's value could not be taken; the reader adds the row and the column. */
export type CellFault = Pick<ImportFault, 'kind' | 'value'>;

/** Names in the languages of templates. A file may use either. */
export type Titles = Record<Language, string>;

/** A column, as a template shows it. */
export type ColumnFacts = {
  titles: Titles;
  isRequired: boolean;
  /** How a value is written, in each language. */
  hint: Titles;
  example: string;
};

/** The rows of a file, each with its number in it. */
export type ImportedRow<Value> = { number: number; value: Value };

/** Why a row of a file is not imported: it is none of its table. */
export const LEFT_OUT_REASONS = ['above_header', 'total', 'note'] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];
/** A row that is not imported; every answer names it. */
export type LeftOutRow = { row: number; why: LeftOutReason };

/** The content of a file: rows to import, faults of others, and rows beside its table. */
export type ReadRows<Value> = { rows: ImportedRow<Value>[]; faults: ImportFault[]; leftOut: LeftOutRow[] };

/** A row, and what is booked already that equals it: perhaps the same movement, perhaps another one. */
export type EqualRow = { row: number; id: string; note: string | null; at: Date; by: string };

/** A question that a file may leave open, and its answers with their words; null: any text. */
export type Question = { titles: Titles; answers: Record<string, Titles> | null };
/** Answers of people, by the name of the question. */
export type Answers = Record<string, string>;

/** The result of an import. */
export type Applied = { changed: number; faults: ImportFault[]; bank?: BankImport };

/** @template Value of a row. */
export type ImportKind<Value = unknown> = {
  titles: Titles;
  /** The largest size of a file that is no table. */
  bytesMax?: number;
  /** Whether a file is the whole state: imported again after another one, it takes that one's place. */
  isWholeState?: boolean;
  roles: readonly [Role, ...Role[]];
  /** Questions that a file may raise, by the name of the answer. */
  questions?: Record<string, Question>;
  /** The result for a file that was imported before. */
  unchanged?: Pick<Applied, 'bank'>;
  /** The columns of its template, by name. */
  columns: Record<string, ColumnFacts>;
  /**
   * Reads a file. Faults of its rows are returned, and so is a file that cannot be read at all.
   * @returns `count` of rows in the file, where a value stands for several.
   */
  read(context: Context, bytes: Buffer): Promise<ReadRows<Value> & { count?: number }>;
  /**
   * Makes the change in the transaction of `inner`. With faults it is rolled back.
   * @param by.sha256 of the file.
   * @param by.isWhole whether these are all rows of the file: others have faults, and nothing will be imported.
   * @returns `changed`: the number of rows that changed something.
   */
  apply(
    inner: Context,
    rows: ImportedRow<Value>[],
    by: { actor: string; sha256: Buffer; isWhole: boolean; answers: Answers },
  ): Promise<Applied>;
  /** How rows are compared with what is booked already, of a kind without a key of its own: an equal one may be another movement. */
  compare?: {
    /** Reads as a text what rows are compared with: once it is another, they are compared again. */
    readBasis(db: Reader): Promise<string>;
    findEqual(db: Reader, rows: ImportedRow<Value>[]): Promise<EqualRow[]>;
  };
  /** Follows the commit. */
  finish?: (context: Context) => Promise<void>;
};

/** A fault in words. */
export function describeImportFault({ row, kind, value = '', ofx, statement }: ImportFault): string {
  if (ofx) return describeOfxFault(ofx);
  if (statement) return `${row === 0 ? `line ${statement.line}: ` : ''}${describeStatementFault(statement)}`;
  return IMPORT_FAULTS[kind].replace('{value}', () => String(value));
}

/** `CURDEF is missing: say that the amounts are in BRL: currency=BRL (--currency)`. */
function describeStatementFault({ kind, value = '' }: StatementFault): string {
  const { text, asks } = STATEMENT_FAULTS[kind];
  const names = kind === 'spelled' ? ([asks, 'new_account'] as const) : [asks];
  const ways = names.map((name) => `${name}=${BANK_QUESTIONS[name]?.join('|') ?? '…'} (--${optionOf(name)})`);
  return `${text.replace('{value}', () => String(value))}: ${ways.join(' or ')}`;
}

/** The name of an answer in the command line: `new-account`. */
export function optionOf(question: string): string {
  return question.replaceAll('_', '-');
}

/** Lists the questions that the faults of a file ask, by name. */
export function listQuestions(faults: readonly ImportFault[]): string[] {
  const names = faults.flatMap(({ statement }) => {
    if (!statement) return [];
    const { asks } = STATEMENT_FAULTS[statement.kind];
    return statement.kind === 'spelled' ? [asks, 'new_account'] : [asks];
  });
  return [...new Set(names)];
}

const FAULTS_LISTED_MAX = 500;

/** A file that is not imported, with all its faults by row and column. */
export class ImportRefusedError extends ConfereError {
  readonly faults: readonly ImportFault[];

  constructor(faults: readonly ImportFault[], columns: ImportKind['columns']) {
    const title = (column: string): string => columns[column]?.titles['pt-BR'] ?? column;
    const listed = faults.slice(0, FAULTS_LISTED_MAX);
    const fields = groupFaults(listed.map((fault) => [namePlace(fault, title), describeImportFault(fault)]));
    const lines = Object.entries(fields).map(([name, texts]) => `${name}: ${texts.join(', ')}`);
    const more = faults.length > FAULTS_LISTED_MAX ? [`and ${faults.length - FAULTS_LISTED_MAX} more`] : [];
    const message = `nothing was imported:\n${[...lines, ...more].join(';\n')}`;
    super('invalid_request', message, { reason: 'import_refused', fields });
    this.faults = faults;
  }
}

/** The basis of a preview has changed since. */
export class ChangedSincePreviewError extends ConfereError {
  constructor() {
    super(...refusal('changed_since_preview'));
  }
}

/** `row 3, valor`; `file` for the file as a whole. */
function namePlace({ row, column }: ImportFault, titleOf: (column: string) => string): string {
  if (row === 0) return 'file';
  return column === null ? `row ${row}` : `row ${row}, ${titleOf(column)}`;
}
