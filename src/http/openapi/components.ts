import { z } from 'zod';
import { ROLES } from '../../access/roles.ts';
import { CALLBACK_STATES } from '../../callbacks/manage/read-callbacks.ts';
import { MISMATCH_SEVERITY, MISMATCH_STATES, type MismatchKind } from '../../domain/mismatch.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { amount, components, day, instant, nullableInstant, nullableText } from './fields.ts';

const KINDS = Object.keys(MISMATCH_SEVERITY) as [MismatchKind, ...MismatchKind[]];

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    errors: z.record(z.string(), z.array(z.string())).optional().describe('faults by field'),
  })
  .register(components, { id: 'Problem' });

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
    kind: z.string().describe('webhook, list or show; of an entry that an opening asked for: person'),
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

export const mismatch = z
  .object({
    id: z.string(),
    kind: z.enum(KINDS),
    severity: z.enum(['medium', 'high', 'critical']),
    state: z.enum(MISMATCH_STATES),
    transaction_id: nullableText,
    reference: nullableText,
    amount: amount.nullable(),
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
  })
  .register(components, { id: 'Mismatch' });

const callbackFields = {
  id: z.string(),
  webhook_id: z.string().describe('the header of every try'),
  merchant_id: z.string(),
  transaction_id: nullableText,
  type: z.string().describe('pix.<operation>.<status>'),
  sequence: z.int().nullable(),
  previous_status: nullableText,
  source: z.string(),
  state: z.enum(CALLBACK_STATES),
  attempts: z.int(),
  next_attempt_at: nullableInstant,
  created_at: instant,
  delivered_at: nullableInstant,
};
export const callback = z.object(callbackFields).register(components, { id: 'Callback' });

const attempt = z
  .object({
    number: z.int(),
    at: instant,
    duration_ms: z.int(),
    request_headers: z.record(z.string(), z.string()),
    response_status: z.int().nullable(),
    response_body: nullableText.describe('null for viewers'),
    error_class: nullableText,
  })
  .register(components, { id: 'Attempt' });
export const callbackWithAttempts = z
  .object({ ...callbackFields, attempt_list: z.array(attempt) })
  .register(components, { id: 'CallbackWithAttempts' });

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

export const run = z
  .object({
    id: z.string(),
    state: z.enum(['queued', 'running', 'complete', 'incomplete', 'failed']),
    from: day,
    to: day,
    platform: nullableText,
    trigger: z.string(),
    how: z.enum(['read', 'count', 'open']).describe('each day whole, or settled days by counts where they add up'),
    requests: z.int().describe('sent to the provider, repeats included'),
    days_counted: z.int().describe('days proven by counts alone'),
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
  })
  .register(components, { id: 'Reconciliation' });

export const runPage = z
  .object({
    from: day,
    to: day.describe('the window that it was read for'),
    pass: z.int().describe('from 1; 0 for a count'),
    page: z.int(),
    status: nullableText.describe('the filter of a count'),
    total: z.int().describe('as the provider told it'),
    rows: z.int(),
    body_sha256: z.string(),
    ids_sha256: z.string(),
    asked_at: instant,
  })
  .register(components, { id: 'ReconciliationPage' });

const webhookFields = {
  id: z.string(),
  received_at: instant,
  state: z.enum(['pending', 'applied', 'quarantined']),
  reason: nullableText,
  items: z.int(),
  repeats: z.int(),
};
export const webhook = z.object(webhookFields).register(components, { id: 'Webhook' });

const webhookItem = z
  .object({
    transaction_id: nullableText,
    reference: nullableText,
    claimed_status: nullableText,
    state: z.string(),
    reason: nullableText,
    looks: z.int(),
    looked_at: nullableInstant,
    next_look_at: nullableInstant,
    contradicted: z.boolean(),
  })
  .register(components, { id: 'WebhookItem' });
export const webhookWithItems = z
  .object({ ...webhookFields, items_detail: z.array(webhookItem) })
  .register(components, { id: 'WebhookWithItems' });

export const report = z
  .object({
    day,
    revision: z.int(),
    state: z
      .enum(['partial', 'provisional', 'closed'])
      .describe("in the list, of a day's newest revision: as it is by now, which its next revision says too"),
    made_at: instant,
    proven: z.boolean().describe('likewise: whether a run has read the whole day after its end'),
    digest: z.string(),
    sha256: z.string().describe('of the workbook'),
    files: z.array(
      z.object({ format: z.enum(['xlsx', 'csv', 'journal']), name: z.string(), bytes: z.int(), sha256: z.string() }),
    ),
    position: z.int().nullable().describe('the position of the journal’s hash chain that it is cut at'),
    chain_hash: z.string().nullable().describe('the chain’s SHA-256 there'),
    redacted: z.boolean().describe('a person in it was forgotten since: its files are made again, and say *removido*'),
  })
  .register(components, { id: 'Report' });

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

const seconds = z.int().nullable().describe('whole seconds');
export const numbers = z
  .object({
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
        kind: z.enum(KINDS),
        severity: z.string(),
        unresolved: z.int(),
        acknowledged: z.int(),
        amount: amount.describe('what their transactions amount to'),
      }),
    ),
  })
  .register(components, { id: 'Numbers' });

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

const tokenFields = { id: z.string(), role: z.enum(ROLES) };
export const token = z
  .object({
    ...tokenFields,
    name: z.string(),
    state: z.enum(['live', 'expired', 'revoked']),
    created_at: instant,
    expires_at: nullableInstant,
    last_used_at: nullableInstant.describe('to the minute'),
    revoked_at: nullableInstant,
  })
  .register(components, { id: 'Token' });
export const auditRow = z
  .object({
    id: z.string(),
    at: instant,
    actor: z.string().describe("a token's id; admin, command: without one"),
    action: z.string(),
    target: z.string(),
    detail: z.string().nullable(),
  })
  .register(components, { id: 'AuditRow' });
export const newToken = z
  .object({
    ...tokenFields,
    token: z.string().describe('shown this once'),
    expires_at: instant.optional().describe('where it expires'),
  })
  .register(components, { id: 'NewToken' });
