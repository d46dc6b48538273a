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

/** Faults of a statement beside what is stored, in words; `{value}` is the fault's value. */
export const STATEMENT_FAULTS = {
  no_account: { text: '{value} is missing: give bank, branch and number', asks: 'account' },
  many_accounts: { text: 'the file has several accounts, and only one may be given a name', asks: 'account' },
  new_account: { text: 'no statement shows this account', asks: 'new_account' },
  spelled: {
    text: 'no statement shows this account, which may be {value}: give that one, or say that it is new',
    asks: 'account',
  },
  no_currency: { text: 'CURDEF is missing: say that the amounts are in BRL', asks: 'currency' },
  unsigned: { text: '{value} says money out, and the amount has no sign', asks: 'signs' },
  no_signs: { text: '{value} may be money out, and no amount of the file has a sign', asks: 'signs' },
  scale: { text: 'the balance has no decimals, and no earlier balance proves whether it is in cents', asks: 'balance' },
  whole_amounts: {
    text: 'no amount has decimals, and no earlier balance proves whether they are in cents',
    asks: 'amounts',
  },
  balance_text: { text: 'the text may be that of a balance, a total or a payment', asks: 'balance_rows' },
  changed: { text: 'the FITID was imported before, with another day or amount', asks: 'other_lines' },
  lacking: {
    text: 'the file lacks a stored line of this amount and day, or of this amount and text up to 3 days apart: it may be that one',
    asks: 'other_lines',
  },
  repeated: { text: 'line {value} is equal in all, also in its FITID', asks: 'other_lines' },
  partial: {
    text: 'the day has lines without FITID, or with new ones, and the file lacks some of its stored lines: import the whole day',
    asks: 'other_lines',
  },
} as const satisfies Record<string, { text: string; asks: BankQuestion }>;

export type StatementFault = { line: number; kind: keyof typeof STATEMENT_FAULTS; value?: string | number };
