import { z } from 'zod';
import {
  CSV_COLUMNS_MAX,
  CSV_DAYS,
  CSV_DECIMALS,
  CSV_PARTS,
  CSV_SEPARATORS,
  CSV_SIGNS,
  CSV_TITLE_CHARS_MAX,
} from '../../ledger/stated/check-bank-csv.ts';
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
    .describe('bank − ledger = before_first_line + withdrawals + open_lines + not_pix − open_entries − after_balance'),
  before_first_line: amount.describe("the bank's balance before the first line that was imported"),
  withdrawals: sum.describe('lines matched with cashouts, which are not in Assets:Bank'),
  open_lines: sum,
  not_pix: sum.describe('lines that are nothing of PIX'),
  open_entries: sum.describe('entries of Assets:Bank without a line'),
  after_balance: amount.describe('lines of days after the newest LEDGERBAL'),
  matched: sum.describe('lines matched with adjustments: as much of Assets:Bank is closed'),
  closed: z.boolean().describe('whether each entry of Assets:Bank has its line'),
  accounts: z.array(
    z.object({
      account,
      name: nullableText,
      lines: sum.describe('matched + withdrawals + open_lines + not_pix'),
      received: sum.describe(
        'money from the provider: matched lines above zero, and entries that name the account without a line',
      ),
      ...{ matched: sum, withdrawals: sum, open_lines: sum, not_pix: sum },
      open_entries: sum.describe('entries that name the account, without a line'),
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
  not_pix: z
    .object({ by_rule: z.boolean(), note: nullableText, created_at: instant, created_by: z.string() })
    .nullable()
    .describe('of a line that is nothing of PIX: who marked it, or whether a text of its account did'),
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
  bank_account: nullableText,
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

/** Facts about an account that people state. */
export const notPix = z.strictObject({
  begins: z.array(z.string()).describe('how texts of lines begin that are nothing of PIX'),
  contains: z.array(z.string()).describe('what they contain'),
});
export const bankCsv = z.strictObject({
  separator: z.enum(CSV_SEPARATORS),
  header: z.array(z.string().max(CSV_TITLE_CHARS_MAX)).min(2).max(CSV_COLUMNS_MAX).describe('all titles, in order'),
  parts: z.array(z.enum(CSV_PARTS).nullable()).max(CSV_COLUMNS_MAX).describe('of each column; null: it is not read'),
  days: z.enum(CSV_DAYS),
  decimals: z.enum(CSV_DECIMALS),
  signs: z.enum(CSV_SIGNS).describe('reversed: an amount without a sign left the account'),
});

export const bankAccounts = component('BankAccounts', {
  accounts: z.array(
    z.object({
      account,
      name: nullableText,
      not_pix: notPix,
      csv: bankCsv.nullable().describe("how to read the bank's own CSV"),
      balance: z.object({ day, amount }).nullable().describe('that a person stated, at the end of the day'),
    }),
  ),
});
