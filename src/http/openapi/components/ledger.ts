import { z } from 'zod';
import { OPERATIONS } from '../../../domain/statuses.ts';
import { amount, components, day, instant, nullableText } from '../fields.ts';
import { callback } from './callbacks.ts';
import { mismatch } from './reconciliation.ts';

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

export const transaction = z.object(transactionFields).register(components, { id: 'Transaction' });

const source = z
  .object({
    kind: z.string().describe('webhook, list or show; person if an opening caused the entry'),
    webhook_id: z.string().optional(),
    run_id: z.string().optional(),
    page: z.int().optional(),
    opening_id: z.string().optional().describe('the opening that a person stated or took back'),
  })
  .register(components, { id: 'Source' });

const event = z
  .object({ status: z.string(), at: instant, seen_at: instant, sequence: z.int(), in_force: z.boolean(), source })
  .register(components, { id: 'Event' });

const entry = z
  .object({
    id: z.string(),
    kind: z.string(),
    at: instant,
    recorded_at: instant,
    sequence: z.int().nullable(),
    reverses: nullableText,
    postings: z.array(z.object({ account: z.string(), amount: amount.describe('debit positive') })),
    source,
  })
  .register(components, { id: 'Entry' });

export const transactionTimeline = z
  .object({
    ...transactionFields,
    events: z.array(event).describe('newest first'),
    entries: z.array(entry),
    mismatches: z.array(mismatch),
    callbacks: z.array(callback),
  })
  .register(components, { id: 'TransactionStory' });

export const balances = z
  .object({
    at: instant,
    known: z.string().describe('an instant, or a sealed position: `seal:123`'),
    sealed: z
      .object({ position: z.int(), hash: z.string().describe('SHA-256, hex: docs/ledger-chain.md') })
      .nullable()
      .describe('the newest position of the hash chain that was sealed by then'),
    balances: z.array(z.object({ account: z.string(), amount })),
  })
  .register(components, { id: 'Balances' });

export const opening = z
  .object({ id: z.string(), platform: z.string(), day, balance: amount, reversed: z.boolean() })
  .register(components, { id: 'Opening' });

export const adjustment = z
  .object({
    id: z.string(),
    platform: z.string(),
    day,
    kind: z.string(),
    amount: amount.describe('positive adds to Available'),
    note: nullableText,
    reverses: nullableText.describe('the one that it takes back; an opening does so too, as its note says'),
  })
  .register(components, { id: 'Adjustment' });

export const statement = z
  .object({ id: z.string(), platform: z.string(), at: instant, balance: amount, ledger: amount, difference: amount })
  .register(components, { id: 'Statement' });

export const commissionContract = z
  .object({
    id: z.string(),
    platform: nullableText,
    operation: z.enum(OPERATIONS),
    fixed: amount,
    basis_points: z.int(),
    from: day,
    to: day.nullable(),
    withdrawn: z.boolean(),
  })
  .register(components, { id: 'CommissionContract' });
