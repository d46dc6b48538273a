import { z } from 'zod';
import { amount, component, day, instant } from './row-fields.ts';

const month = z.string().describe('YYYY-MM');

export const refusal = component('MonthRefusal', {
  code: z.enum([
    'before_books',
    'month_running',
    'earlier_month_open',
    'later_month_closed',
    'day_unproven',
    'days_before_unread',
    'mismatch_open',
    'more_mismatches_open',
    'balance_differs',
    'opening_unfinished',
  ]),
  detail: z.string().describe('what it is, and what ends it'),
  link: z.string().describe('the address of the console’s page where it is ended'),
  month: month.optional(),
  day: day.optional(),
  from: day.optional().describe('the first of several days'),
  to: day.optional().describe('the last of them'),
  mismatch_id: z.string().optional(),
  kind: z.string().optional().describe('of the mismatch'),
  platform: z.string().optional(),
});

const fields = {
  month,
  state: z
    .enum(['running', 'open', 'closed'])
    .describe('running: it has not ended; closed: its files show the cut at which it was closed'),
  closed_at: instant.nullable(),
  closed_by: z.string().nullable(),
  note: z.string().nullable(),
  position: z.int().nullable().describe('the position of the journal’s hash chain that it was closed at'),
  chain_hash: z.string().nullable().describe('the chain’s SHA-256 there'),
  digest: z.string().nullable().describe('SHA-256 over its balances'),
};

export const listedMonth = component('Month', fields);

export const shownMonth = component('MonthWithBalances', {
  ...fields,
  refusals: z.array(refusal).describe('what keeps it from being closed, or, once it is closed, from being reopened'),
  leaves_open: month
    .nullable()
    .describe(
      'of a month that is not closed: the first earlier month with entries that closing it leaves open for good',
    ),
  expected: z
    .object({ paid: z.int(), unpaid: z.int(), undecided: z.int().describe('with candidates that nobody undid') })
    .describe('expected payments that were due in it: they keep no month open'),
  balances: z
    .array(z.object({ account: z.string(), opening: amount, closing: amount }))
    .nullable()
    .describe('of every account, at the start and at the end of a closed month, as known at its position'),
  changes: z
    .array(
      z.object({
        action: z.enum(['close', 'reopen']),
        at: instant,
        by: z.string(),
        note: z.string().nullable(),
        position: z.int().nullable(),
      }),
    )
    .describe('the newest first'),
});
