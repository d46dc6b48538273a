import { z } from 'zod';
import { DISPUTED_MEANS, REASON_CODE_MEANS } from '../../callbacks/render/event-schema.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { EXPECTED_STATES } from '../../expected/decide/decide-state.ts';
import { ALIKE_REASONS } from '../../expected/read/read-alike.ts';
import { amount, component, day, instant, nullableInstant, nullableText } from './row-fields.ts';

const rule = z.string().describe('person, reference, e2e_id, invoice, extra or document');
const state = z.enum(EXPECTED_STATES);

const competing = z.array(
  z.object({ id: z.string(), source: z.string(), number: z.string(), state, shared: nullableText }),
);

/** An expected payment, as a payment shows it. */
export const orderOfPayment = z.object({ id: z.string(), source: z.string(), number: z.string(), state, amount, rule });

export const expectedPayment = component('ExpectedPayment', {
  id: z.string(),
  source: z.string(),
  number: z.string(),
  operation: z.enum(OPERATIONS),
  amount,
  due_day: day,
  issued_day: day.describe('as given, else the earlier of due_day and the day on which it first came'),
  valid_until: day.nullable(),
  platform: nullableText.describe('null: any'),
  references: z.array(z.string()),
  e2e_ids: z.array(z.string()),
  extra: nullableText,
  document: nullableText,
  name: nullableText,
  description: nullableText,
  invoice_key: nullableText,
  revised_at: nullableInstant,
  state,
  reason: nullableText.describe('why, without anybody’s data'),
  reason_code: nullableText.describe(REASON_CODE_MEANS),
  unfindable: z
    .boolean()
    .describe('no payment can be found for it: there is nothing to find one by, or no transaction shows its platform'),
  paid: amount,
  refunded: amount,
  difference: amount.describe('paid − amount'),
  paid_day: day.nullable().describe('on which the amount was reached'),
  late_days: z.int().describe('from the due day until the amount was reached, or until today'),
  matches: z.array(
    z.object({
      transaction_id: z.string(),
      amount,
      rule,
      by: z.string().describe('for a merchant: confere, or operators'),
      note: nullableText,
    }),
  ),
  candidates: z
    .array(z.object({ transaction_id: z.string(), amount, rule, reason: z.string() }))
    .describe('at most 20; reason: not_unique, undone (by a person) or pending (not paid yet)'),
  disputed: z.boolean().describe(DISPUTED_MEANS),
  competing: competing
    .optional()
    .describe(
      'only of one: at most 20 others that are not cancelled and have the same reference or e2e_id (shared), or may be the same payment, which counts for none of them: cancel one, or change its reference. Of a cancelled one with such a payment also cancelled ones: reopen one',
    ),
  competing_elsewhere: z
    .int()
    .optional()
    .describe(
      'only of one: how many others, that you may not see, may be a payment in dispute, up to 20: ask the operators to match it',
    ),
  alike: z
    .array(
      z.object({
        transaction_id: z.string(),
        amount,
        paid_day: day,
        alike: z.enum(ALIKE_REASONS),
        reference: nullableText,
        platform: nullableText,
        matched: z.boolean().describe('whether it counts for another order'),
        order: z
          .object({ id: z.string(), source: z.string(), number: z.string() })
          .nullable()
          .describe('that order; null: none, or not one of yours'),
      }),
    )
    .optional()
    .describe(
      'only of one that no payment counts for: hints, which decide nothing, and of which none proves nothing. At most 5 payments of equal document and amount, or of an equal extra, that count for another order; at most 5 that count for none, whose reference differs in its spelling from a reference or the number, or of equal amount; of either kind those that have its reference or e2e_id at another platform than its own (platform)',
    ),
  silent: z
    .literal(true)
    .optional()
    .describe(
      'only of one, to a merchant: its changes send no messages: you get none about orders, or it does not fit your filter, as without a platform where the filter names some',
    ),
  version: z.int(),
  decided: z
    .boolean()
    .describe(
      'whether state, reason, paid, matches, candidates and disputed hold for this version; false (as in the answer to a change): matching follows, ask again after a second',
    ),
  matched_to: instant.describe('the instant up to which all orders and payments that were committed are decided'),
  created_at: instant,
  superseded: z.literal(true).optional().describe('what came is older than what is stored, and changed nothing'),
});

export const expectedResults = component('ExpectedResults', {
  results: z.array(
    z.object({
      row: z.int().describe('from 1'),
      status: z.int().describe('201, 200, 403, 409 or 422'),
      id: nullableText,
      version: z.int().nullable(),
      reason: nullableText.describe('why it was refused; superseded: what came is older than what is stored'),
      errors: z.record(z.string(), z.array(z.string())).nullable(),
      competing: competing.nullable().describe('as of one; null: it was refused'),
    }),
  ),
});
