import { z } from 'zod';
import { amount, component, day, instant } from './row-fields.ts';

const figures = z
  .object({
    opening: amount,
    receipts: amount,
    commissions: amount,
    payments: amount,
    refunds_made: amount,
    refunds_received: amount,
    refunds: amount.describe('made and received'),
    adjustments: amount,
    bank: amount.nullable().describe('of the adjustments: withdrawals and deposits; null: of an earlier version'),
    fees: amount.nullable().describe('of the adjustments: fees entered by people; null likewise'),
    closing: amount,
    held: amount,
    open_mismatches: z.int().describe('when it was made, of all days'),
  })
  .describe(
    'of its Resumo, each with the sign by which it moves the balance: `closing` is the sum of opening to adjustments, and holds `held`',
  );

export const report = component('Report', {
  day,
  revision: z.int(),
  state: z
    .enum(['partial', 'provisional', 'closed'])
    .describe('in lists, the newest revision of a day shows the current state, which the next revision will store'),
  made_at: instant,
  proven: z.boolean().describe('likewise: whether the whole day was read or counted at the provider after its end'),
  digest: z.string(),
  sha256: z.string().describe('of the workbook'),
  files: z.array(
    z.object({
      format: z.enum(['xlsx', 'csv', 'journal']),
      name: z.string(),
      bytes: z.int(),
      sha256: z.string(),
      rebuilt: z
        .object({ bytes: z.int(), sha256: z.string(), at: instant, version: z.string() })
        .optional()
        .describe('it was lost or damaged, and a later version rebuilt it: the same rows (`digest`), other bytes'),
    }),
  ),
  position: z.int().nullable().describe('the position of the journal’s hash chain that it is cut at'),
  chain_hash: z.string().nullable().describe('the chain’s SHA-256 there'),
  figures: figures
    .nullable()
    .describe('null: a revision of an earlier version whose figures the job daily_report has not added yet'),
  redacted: z.boolean().describe('a person in it was forgotten since: its files are made again, and say *removido*'),
});
