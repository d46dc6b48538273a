import type { Day } from '../../../domain/calendar.ts';

/** A transaction of the bank's statement. */
export type StatementLine = {
  /** Counts the lines of the file. */
  line: number;
  /** Empty: the bank gave none. A transaction of an OFX has one. */
  fitid: string;
  /** The day as the bank writes it; a zone is not applied. */
  day: Day;
  /** Positive: money that came into the account. */
  cents: bigint;
  type: string;
  name: string;
  memo: string;
  checkNumber: string;
  referenceNumber: string;
};

/** A statement as the file has it. */
export type BankStatement = {
  /** A person wrote a table: a wrong digit would begin another account. */
  source: 'ofx' | 'table';
  /** Whether the table says that its account is a new one. */
  isNewAccount: boolean;
  /** Counts the lines of the file. */
  line: number;
  /** Bank, branch if there is one, and number: `341/1234/56789-0`. Without the parts that are missing. */
  account: string;
  /** The parts of the account that the file lacks, by their names in an OFX. */
  missing: string[];
  /** Whether the file names the currency. */
  hasCurrency: boolean;
  from: Day | null;
  to: Day | null;
  /** LEDGERBAL; null: the file has none, or one without a day. */
  balance: { cents: bigint; day: Day; line: number } | null;
  /** Whether the file shows balances, none of which is surely that of the end of a day. */
  isBalanceUnclear?: boolean;
  /** Parts of an OFX that are written without decimals: the balance, and the amounts of all lines. They may be in cents. */
  isWhole: { balance: boolean; lines: boolean };
  lines: StatementLine[];
  /** Rows that show a balance and are no transactions. */
  balanceRows: StatementLine[];
  /** Rows with a FITID whose text is that of a balance row, or of a payment. */
  openRows: StatementLine[];
};

/** Words that name the balance before the first line. */
export const BALANCE_BEFORE = /\b(?:ant|anterior|inicial)\b/i;
