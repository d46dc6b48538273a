import { z } from 'zod';
import { OPERATIONS } from '../../domain/statuses.ts';
import type { FeeColumn } from '../../reports/serve/export-fees.ts';
import { callback } from './callbacks.ts';
import { orderOfPayment } from './expected.ts';
import { mismatch } from './reconciliation.ts';
import { amount, component, day, instant, nullableText } from './row-fields.ts';

const transactionFields = {
  id: z.string(),
  operation: z.enum(OPERATIONS),
  status: z.string().describe("one of the provider's eight, or another kept as it came"),
  amount,
  commission: amount.nullable(),
  net: amount.describe('cashin: amount − commission; cashout: amount + commission'),
  currency: z.literal('BRL'),
  reference: nullableText,
  extra: nullableText,
  platform: nullableText,
  e2e_id: nullableText,
  pix_key: nullableText.describe('masked for viewers, as name, email, phone and document are'),
  name: nullableText,
  email: nullableText,
  phone: nullableText,
  document: nullableText,
  description: nullableText,
  created_at: instant,
  status_at: instant,
  sequence: z.int().describe('1, 2, 3… in the order in which its events were learnt'),
};

export const transaction = component('Transaction', transactionFields);

export const source = component('Source', {
  kind: z.string().describe('webhook, list or show; person if an opening caused the entry'),
  webhook_id: z.string().optional(),
  run_id: z.string().optional(),
  page: z.int().optional(),
  opening_id: z.string().optional().describe('the opening that a person stated or took back'),
});

const event = component('Event', {
  status: z.string(),
  at: instant,
  seen_at: instant,
  sequence: z.int(),
  in_force: z.boolean(),
  source,
});

const entry = component('Entry', {
  id: z.string(),
  kind: z.string(),
  at: instant,
  recorded_at: instant,
  sequence: z.int().nullable(),
  reverses: nullableText,
  postings: z.array(z.object({ account: z.string(), amount: amount.describe('debit positive') })),
  source,
});

export const transactionTimeline = component('TransactionStory', {
  ...transactionFields,
  events: z.array(event).describe('newest first'),
  entries: z.array(entry),
  mismatches: z.array(mismatch),
  callbacks: z.array(callback),
  expected_payments: z.array(orderOfPayment).describe('those that it is matched with; amount: its part'),
  expected_candidates: z
    .array(orderOfPayment.extend({ reason: z.string() }))
    .describe('at most 20 that it may belong to, about which a person decides'),
});

export const balances = component('Balances', {
  at: instant,
  known: z.string().describe('an instant, or a sealed position: `seal:123`'),
  sealed: z
    .object({ position: z.int(), hash: z.string().describe('SHA-256, hex: docs/log.md') })
    .nullable()
    .describe('the newest position of the hash chain that was sealed by then'),
  balances: z.array(z.object({ account: z.string(), amount })),
});

/** The author: a token's id, `command`, or `confere` itself. */
const entered = { created_at: instant, created_by: z.string() };

export const opening = component('Opening', {
  id: z.string(),
  platform: z.string(),
  day,
  balance: amount,
  reversed: z.boolean(),
  ...entered,
});

export const adjustment = component('Adjustment', {
  id: z.string(),
  platform: z.string(),
  day,
  kind: z.string(),
  amount: amount.describe('positive adds to Available'),
  note: nullableText,
  bank_account: nullableText.describe('of kind bank: where the money went, or came from'),
  reverses: nullableText.describe('the one that it takes back; an opening does so too, as its note says'),
  reversed_by: nullableText,
  ...entered,
});

export const statement = component('Statement', {
  id: z.string(),
  platform: z.string(),
  at: instant,
  balance: amount,
  ledger: amount,
  difference: amount,
  replaced: z.boolean().describe('by a later statement of the same instant'),
  ...entered,
});

export const platformNames = component('PlatformNames', {
  platforms: z.array(z.object({ platform: z.string(), name: z.string(), named_at: instant, named_by: z.string() })),
});

export const accountMap = component('AccountMap', {
  accounts: z.array(
    z.object({
      account: z.string(),
      platform: nullableText,
      code: nullableText,
      category: nullableText,
      cost_center: nullableText,
      history: nullableText,
    }),
  ),
  unmapped: z.array(z.string()).describe('accounts with entries and without a row'),
  changed_at: instant.nullable(),
  changed_by: nullableText,
});

export const commissionContract = component('CommissionContract', {
  id: z.string(),
  platform: nullableText,
  operation: z.enum(OPERATIONS),
  fixed: amount,
  basis_points: z.int(),
  from: day,
  to: day.nullable(),
  withdrawn: z.boolean(),
  ...entered,
});

const charged = {
  payments: z.int().describe('transactions paid, in and out'),
  charged: amount,
  covered: amount.describe('charged for the transactions that a contract covers'),
  agreed: amount.describe('by the contracts, of the transactions that one covers; half a cent is rounded up'),
  difference: amount.describe('covered less agreed'),
  differing: z.int().describe('transactions whose commission is not the contract’s, however it is rounded'),
  uncovered: z.int().describe('transactions without a contract, or without a known commission'),
} satisfies Record<Exclude<FeeColumn, 'platform' | 'operation'>, z.ZodType>;

export const feesOfMonth = component('FeesOfMonth', {
  month: z.string(),
  rows: z.array(z.object({ platform: nullableText, operation: z.enum(OPERATIONS), ...charged })),
  total: z.object(charged),
  by_hand: z.array(z.object({ platform: nullableText, amount })).describe('adjustments of the kind fee in its days'),
  payments: z
    .array(
      z.object({
        transaction_id: z.string(),
        platform: nullableText,
        operation: z.enum(OPERATIONS),
        at: z.string().describe('when it was paid, on the provider’s clock'),
        ...{ amount, charged: amount, agreed: amount, difference: amount },
      }),
    )
    .describe('at most 50 of those that differ, the newest first'),
});
