import type { Day } from '../../domain/calendar.ts';

/** A transaction of the bank's statement. */
export type StatementLine = {
  /** Of the file. */
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

export type BankStatement = {
  /** Bank, branch if there is one, and number: `341/1234/56789-0`. */
  account: string;
  from: Day | null;
  to: Day | null;
  /** LEDGERBAL; null: the file has none, or one without a day. */
  balance: { cents: bigint; day: Day } | null;
  lines: StatementLine[];
  /** Rows that show a balance and are no transactions. */
  balanceRows: number;
};
