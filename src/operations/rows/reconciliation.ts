import { z } from 'zod';
import { MISMATCH_KINDS, MISMATCH_STATES } from '../../domain/mismatch.ts';
import { amount, component, day, instant, nullableInstant, nullableText } from './row-fields.ts';

export const mismatch = component('Mismatch', {
  id: z.string(),
  kind: z.enum(MISMATCH_KINDS),
  severity: z.enum(['medium', 'high', 'critical']),
  state: z.enum(MISMATCH_STATES),
  day: day.describe('of the payment; of one about none, its own, else that of opened_at'),
  platform: nullableText.describe('that it concerns; null: all'),
  transaction_id: nullableText,
  reference: nullableText,
  expected_payment_id: nullableText.describe('of the kinds about an expected payment'),
  at_stake: amount
    .nullable()
    .describe('the difference where `expected` and `actual` are amounts, else `amount`: what every list and sum shows'),
  amount: amount.nullable().describe('of its transaction; without one, what it is about'),
  expected: z.unknown(),
  actual: z.unknown(),
  run_id: nullableText,
  webhook_id: nullableText,
  opened_at: instant,
  acknowledged_at: nullableInstant,
  resolved_at: nullableInstant,
  resolution: nullableText,
  note: nullableText,
  reopened: z.int(),
  baseline: z.boolean(),
  owner: nullableText.describe('who is to decide it: the id of a user or a token'),
  age_days: z.int().describe('whole days since it opened, up to its end'),
});

export const run = component('Reconciliation', {
  id: z.string(),
  state: z.enum(['queued', 'running', 'complete', 'incomplete', 'failed']),
  from: day,
  to: day,
  platform: nullableText,
  trigger: z.string(),
  how: z
    .enum(['read', 'count', 'open', 'recent'])
    .describe('each day whole; settled days by counts where they add up; or what is new, where the count agrees'),
  requests: z.int().describe('sent to the provider, repeats included'),
  days_counted: z.int().describe('days proven by counts alone'),
  days_recent: z.int().describe('days of which only what is new was read: it proves nothing about absence'),
  pages: z.int(),
  passes: z.int(),
  total: z
    .int()
    .nullable()
    .describe('the last total that the provider announced; of a run of several windows, their sum'),
  seen: z.int().describe('distinct ids read'),
  applied: z.int(),
  mismatches: z.int(),
  by_kind: z.record(z.string(), z.int()),
  started_at: nullableInstant,
  finished_at: nullableInstant,
  error: nullableText,
});

export const runPage = component('ReconciliationPage', {
  from: day,
  to: day.describe('the window that it was read for'),
  pass: z.int().describe('from 1; 0 for a count or a recent reading'),
  page: z.int(),
  status: nullableText.describe('the filter of a count'),
  total: z.int().describe('as the provider reported it'),
  rows: z.int(),
  body_sha256: z.string(),
  ids_sha256: z.string(),
  asked_at: instant,
});

const seconds = z.int().nullable().describe('whole seconds');

export const numbers = component('Numbers', {
  from: day,
  to: day,
  webhooks: z.array(
    z.object({
      day,
      announced: z.int(),
      lost: z.int().describe('nothing came within WEBHOOK_GRACE'),
      waiting: z.int().describe('their grace is not over yet'),
      loss_rate: nullableText.describe('lost of announced and lost: "0.0123"'),
      late_p50_s: seconds,
      late_p95_s: seconds,
      late_max_s: seconds,
    }),
  ),
  coverage: z.object({
    from: day,
    to: day,
    days: z.int(),
    proven: z.int(),
    oldest_unproven: day.nullable(),
    oldest_unproven_age_days: z.int(),
  }),
  mismatches: z.array(
    z.object({
      kind: z.enum(MISMATCH_KINDS),
      severity: z.string(),
      unresolved: z.int(),
      acknowledged: z.int(),
      at_stake: amount.describe('the sum of `at_stake` of the unresolved ones'),
    }),
  ),
});
