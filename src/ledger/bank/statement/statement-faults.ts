import type { MessagesOf } from '../../../texts/messages.ts';

/** Questions that a statement may raise, and their answers; null: any text. */
export const BANK_QUESTIONS = {
  account: null,
  new_account: ['true'],
  currency: ['BRL'],
  amounts: ['cents', 'as_written'],
  balance: ['cents', 'as_written', 'leave_out'],
  signs: ['by_type', 'as_written'],
  balance_rows: ['leave_out', 'lines'],
  later_lines: ['true'],
  other_lines: ['true'],
} as const satisfies Record<string, readonly [string, ...string[]] | null>;

export type BankQuestion = keyof typeof BANK_QUESTIONS;
export type BankAnswers = {
  [Name in BankQuestion]?:
    | ((typeof BANK_QUESTIONS)[Name] extends readonly (infer Answer)[] ? Answer : string)
    | undefined;
};

type StatementFaultKind = MessagesOf<'statement'>;

/** Faults of a statement beside what is stored, each with the question that it asks. */
export const STATEMENT_QUESTIONS = {
  no_account: 'account',
  many_accounts: 'account',
  csv_account: 'account',
  new_account: 'new_account',
  spelled: 'account',
  no_currency: 'currency',
  unsigned: 'signs',
  no_signs: 'signs',
  scale: 'balance',
  whole_amounts: 'amounts',
  balance_text: 'balance_rows',
  changed: 'other_lines',
  lacking: 'other_lines',
  repeated: 'other_lines',
  partial: 'other_lines',
} as const satisfies Record<StatementFaultKind, BankQuestion>;

export type StatementFault = { line: number; kind: StatementFaultKind; value?: string | number };
