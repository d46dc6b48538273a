import { z } from 'zod';
import { amount, component, day, instant, nullableText } from './row-fields.ts';

const nullableDay = day.nullable();
const sum = z.object({ count: z.int(), amount });
const account = z.string().describe('bank, branch and number: 341/1234/56789-0');
const bankAmount = amount.describe('as the bank sees it: positive came into the bank account');

export const bankSummary = component('BankSummary', {
  bank: amount.nullable().describe('the newest LEDGERBAL of each account, added up; null: an account has none'),
  ledger: amount.describe('of Assets:Bank, all platforms'),
  difference: amount
    .nullable()
    .describe('bank − ledger = before_first_line + withdrawals + open_lines − open_entries − after_balance'),
  before_first_line: amount.describe("the bank's balance before the first line that was imported"),
  withdrawals: sum.describe('lines matched with cashouts, which are not in Assets:Bank'),
  open_lines: sum,
  open_entries: sum.describe('entries of Assets:Bank without a line'),
  after_balance: amount.describe('lines of days after the newest LEDGERBAL'),
  matched: sum.describe('lines matched with adjustments: as much of Assets:Bank is closed'),
  closed: z.boolean().describe('whether each entry of Assets:Bank has its line'),
  accounts: z.array(
    z.object({
      account,
      lines: sum,
      first_day: nullableDay,
      last_day: nullableDay,
      balance: amount.nullable(),
      balance_day: nullableDay,
      gaps: z
        .array(z.object({ from: day, to: day, amount }))
        .describe('balances between which lines are missing, of this sum'),
    }),
  ),
});

export const bankStatement = component('BankStatement', {
  id: z.string(),
  sha256: z.string(),
  account,
  from: nullableDay,
  to: nullableDay,
  balance: amount.nullable(),
  balance_day: nullableDay,
  lines: z.int(),
  created_at: instant,
  created_by: z.string(),
});

const text = z.string().describe('withheld from viewers');

export const bankLine = component('BankLine', {
  id: z.string(),
  account,
  day,
  amount: bankAmount,
  type: z.string(),
  name: text,
  memo: text,
  check_number: text,
  reference_number: text,
  fitid: text.describe('empty: the bank gave none'),
  statement_id: z.string(),
  match: z
    .object({
      id: z.string(),
      rule: z.string().describe('reference, amount or person'),
      entry_id: z.string(),
      adjustment_id: nullableText,
      transaction_id: nullableText,
      created_at: instant,
      created_by: z.string(),
    })
    .nullable(),
  candidates: z
    .array(
      z.object({
        adjustment_id: nullableText,
        transaction_id: nullableText,
        day,
        amount: bankAmount,
        named: z.boolean().describe('whether the line names it'),
      }),
    )
    .describe('of an open line: entries of its amount, at most two days apart'),
});

export const bankEntry = component('BankEntry', {
  id: z.string(),
  adjustment_id: z.string(),
  platform: z.string(),
  day,
  amount: bankAmount,
  note: nullableText,
  candidates: z.array(z.object({ line_id: z.string(), day })).describe('open lines of its amount'),
});

export const bankMatch = component('BankMatch', {
  id: z.string(),
  line_id: z.string(),
  account,
  day: day.describe('of the line'),
  amount: bankAmount,
  entry_id: z.string(),
  entry_day: day,
  platform: z.string(),
  adjustment_id: nullableText,
  transaction_id: nullableText,
  rule: z.string().describe('reference, amount or person; undo'),
  state: z
    .string()
    .describe('matched; undone; reversed: its entry was, so the line is open again; undo: it undoes one'),
  undoes: nullableText,
  undone_by: nullableText,
  note: nullableText,
  created_at: instant,
  created_by: z.string(),
});
