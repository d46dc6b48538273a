import { z } from 'zod';
import { LEFT_OUT_REASONS } from '../../imports/import-kind.ts';
import { amount, component, day, instant, nullableText } from './row-fields.ts';

const nullableDay = day.nullable();

const kind = z.string().describe('statements, adjustments, accounts, platforms, bank, expected, nfe or decisions');
const sha256 = z.string().describe('of the file');
const rows = z.int().describe('of the file');
const changed = z.int().describe('rows that changed something');

export const fileImport = component('Import', {
  id: z.string(),
  kind,
  sha256,
  rows,
  changed,
  created_at: instant,
  created_by: z.string(),
});

export const importOutcome = component('ImportOutcome', {
  kind,
  sha256,
  rows,
  changed,
  repeats: z
    .object({ id: z.string(), at: instant, by: z.string() })
    .nullable()
    .describe('the import of the same file before: nothing is imported again'),
  already_booked: z
    .array(z.object({ row: z.int(), id: z.string(), created_at: instant, created_by: z.string() }))
    .describe(
      'with allow_equal: rows that equal an adjustment in force (platform, day, amount) or a statement (platform, instant, balance)',
    ),
  left_out: z
    .array(z.object({ row: z.int(), file: z.string().optional(), why: z.enum(LEFT_OUT_REASONS) }))
    .describe(
      'rows beside the table, which are not imported: above its header, its total, a note below it; of nfe, files that are no invoice to be paid by PIX, by name',
    ),
  dry_run: z.boolean(),
  repeated: z
    .boolean()
    .optional()
    .describe('of bank, as the two below: whether nothing changed, as the file was imported before'),
  statements: z
    .array(
      z.object({
        account: z.string().describe('bank, branch and number: 341/1234/56789-0'),
        from: nullableDay,
        to: nullableDay,
        balance: amount.nullable().describe('LEDGERBAL'),
        balance_day: nullableDay,
        lines: z.int(),
        new: z.int(),
        known: z.int().describe('imported before'),
        renumbered: z.int().describe('of these: with another FITID than before'),
        negated: z
          .int()
          .describe(
            'lines whose type says money out, written without a sign: an earlier balance proves it, or signs=by_type',
          ),
        balance_rows: z.int().describe('rows of the bank that show a balance and are no transactions'),
        later_lines: z.int().describe('rows of days to come, which are left out'),
        later: z.array(z.object({ line: z.int(), day, amount })).describe('the first of them'),
        balance_left_out: z
          .boolean()
          .describe('whether the balance is to come, is not surely that of the end of a day, or balance=leave_out'),
      }),
    )
    .optional(),
  matched: z.object({ reference: z.int(), amount: z.int(), not_pix: z.int() }).optional(),
  unfindable: z.int().optional().describe('of expected: rows without a key, for which no payment is found'),
  unseen_platforms: z
    .array(z.object({ platform: z.string(), rows: z.int() }))
    .optional()
    .describe('of expected: platforms that no transaction shows, each in how many rows'),
  asked_receipts: z
    .array(z.object({ platform: nullableText, from: day, receipts: z.int() }))
    .optional()
    .describe(
      'of expected: receipts paid from a day on that must be of an order now, and are of none; platform null: of any',
    ),
  decisions: z
    .array(
      z.object({
        row: z.int(),
        mismatch_id: z.string(),
        kind: z.string(),
        decision: z.enum(['resolve', 'accept', 'match']),
        which: z.string().nullable().describe('the id of the expected payment or the transaction that was matched'),
        changed: z.boolean().describe('false: it was decided so before'),
      }),
    )
    .optional()
    .describe('of decisions, the effect of each row that has one'),
});
