import type { Role } from '../access/roles.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import type { Day } from '../domain/calendar.ts';
import { ConfereError, groupFaults } from '../domain/errors.ts';
import type { Language } from '../domain/language/language.ts';
import type { BankImport } from '../ledger/bank/import-bank-file.ts';
import { BANK_QUESTIONS, type BankQuestion, STATEMENT_QUESTIONS } from '../ledger/bank/statement/statement-faults.ts';
import type { MappedAccount } from '../ledger/stated/check-accounts.ts';
import { describeSaid, type MessagesOf, type Said } from '../texts/messages.ts';
import { refusal } from '../texts/refuse.ts';
import type { AskedReceipts } from './count-asked.ts';

type Faults<Of extends string> = { of: Of; kind: MessagesOf<Of>; value?: string | number };

/** A cell's value could not be taken; the reader adds the row and the column. */
export type CellFault = Omit<Faults<'row'>, 'of'> & { said?: Said };

/**
 * A fault of a row and one of its columns. `row` is its number in the file, 0 for the file as a whole; `column` is the
 * column's name in the code, null for the row as a whole. Its text is the message of its kind.
 */
export type ImportFault = {
  row: number;
  column: string | null;
  /** The file of an archive, in place of a row. */
  file?: string;
  /** The line, of a file that has lines in place of rows. */
  line?: number;
  /** Why a file is unreadable, or the rule of a field, in place of `value`. */
  said?: Said;
  /** The error that refused a change, in place of `value`. */
  error?: ConfereError;
} & ((CellFault & { of?: undefined }) | Faults<'ofx'> | Faults<'statement'> | Faults<'account'> | Faults<'invoice'>);

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

/** The rows of a file, each with its number in it, or the name of its file in an archive. */
export type ImportedRow<Value> = { number: number; value: Value; file?: string };

/** Why a row of a file is not imported: it is none of its table; why a file of an archive is not: it is no invoice to be paid by PIX. */
const NO_ROW = ['above_header', 'total', 'note'] as const;
const NO_INVOICE = [
  'no_xml',
  'other_model',
  'incoming',
  'return',
  'not_pix',
  'other_event',
  'unknown_invoice',
] as const;
export const LEFT_OUT_REASONS = [...NO_ROW, ...NO_INVOICE] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];
/** A row that is not imported; every answer names it. */
export type LeftOutRow = { row: number; file?: string; why: LeftOutReason };

/** The content of a file: rows to import, faults of others, and rows beside its table. `wrong`: the rows with faults, null for each wrong cell. */
export type ReadRows<Value> = {
  rows: ImportedRow<Value>[];
  faults: ImportFault[];
  leftOut: LeftOutRow[];
  wrong?: ImportedRow<Value>[];
};

/** A row, and what is booked already that equals it: perhaps the same movement, perhaps another one. */
export type EqualRow = { row: number; id: string; note: string | null; at: Date; by: string };

/** A question that a file may leave open, and its answers with their words; null: any text. */
export type Question = { titles: Titles; answers: Record<string, Titles> | null };
/** Answers of people, by the name of the question. */
export type Answers = Record<string, string>;

/** The effect of a row that decides a mismatch; `which`: the id of what was matched; not `changed`: it was decided so before. */
export type DecidedRow = {
  row: number;
  mismatch_id: string;
  kind: string;
  decision: 'resolve' | 'accept' | 'match';
  which: string | null;
  changed: boolean;
};

/** The orders of a file. `unfindable`: rows without a key; `unseen`: platforms that no transaction shows, each in how many rows. */
export type ImportedOrders = {
  /** The first rows. */
  first: { row: number; number: string; operation: string; platform: string | null; cents: bigint; due_day: Day }[];
  sums: { operation: string; rows: number; cents: bigint }[];
  unfindable: number;
  unseen: { platform: string; rows: number }[];
  /** Receipts that must be of an order from now on. */
  asked: AskedReceipts[];
};

/** An account of the map that a file changes; null: it has no row. */
export type ChangedAccount = Record<'before' | 'after', MappedAccount | null>;

/** The result of an import. */
export type Applied = {
  changed: number;
  faults: ImportFault[];
  bank?: BankImport;
  leftOut?: LeftOutRow[];
  decisions?: DecidedRow[];
  orders?: ImportedOrders;
  accounts?: ChangedAccount[];
};

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
   * @param answers to what the file leaves open; undefined: a file that needs one is unreadable.
   * @returns `count` of rows in the file, where a value stands for several.
   */
  read(context: Context, bytes: Buffer, answers?: Answers): Promise<ReadRows<Value> & { count?: number }>;
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

/** Lists the faults of rows with the same key: which of them is meant is unknown. */
export function listRepeated<Value>(
  rows: readonly ImportedRow<Value>[],
  keyOf: (value: Value) => string,
  toFault: (row: ImportedRow<Value>) => ImportFault,
): ImportFault[] {
  const groups = Map.groupBy(rows, ({ value }) => keyOf(value));
  return [...groups.values()].flatMap((group) => (group.length > 1 ? group.map(toFault) : []));
}

/** The text of a fault without its place. */
export function sayImportFault({ of, kind, said, ...fault }: ImportFault, language: Language = 'en'): string {
  const rule = said ? describeSaid(said, language) : '';
  const values = { rule, value: fault.error?.message ?? fault.value ?? rule };
  return describeSaid([{ name: `${of ?? 'row'}.${kind}`, values }], language).trim();
}

/** A fault in English with its line, and how it is answered: `…: say that the amounts are in BRL: currency=BRL (--currency)`. */
export function describeImportFault(fault: ImportFault): string {
  const place = fault.row === 0 && fault.line !== undefined ? `line ${fault.line}: ` : '';
  const ways =
    fault.kind === 'booked' ? ['allow_equal=true (--allow-equal) imports it too'] : asksOf(fault).map(describeWay);
  return [`${place}${sayImportFault(fault)}`, ways.join(' or ')].filter(Boolean).join(': ');
}

function describeWay(name: BankQuestion): string {
  return `${name}=${BANK_QUESTIONS[name]?.join('|') ?? '…'} (--${optionOf(name)})`;
}

function asksOf({ of, kind }: ImportFault): BankQuestion[] {
  if (of !== 'statement') return [];
  return kind === 'spelled' ? [STATEMENT_QUESTIONS[kind], 'new_account'] : [STATEMENT_QUESTIONS[kind]];
}

/** The name of an answer in the command line: `new-account`. */
export function optionOf(question: string): string {
  return question.replaceAll('_', '-');
}

/** Lists the questions that the faults of a file ask, by name. */
export function listQuestions(faults: readonly ImportFault[]): string[] {
  return [...new Set(faults.flatMap(asksOf))];
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
function namePlace({ row, column, file }: ImportFault, titleOf: (column: string) => string): string {
  if (file !== undefined) return file;
  if (row === 0) return 'file';
  return column === null ? `row ${row}` : `row ${row}, ${titleOf(column)}`;
}
