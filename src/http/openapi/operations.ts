import { z } from 'zod';
import { adjustmentSchema, reversalSchema, statementSchema } from '../api/adjustments.ts';
import { auditQuerySchema } from '../api/audit.ts';
import { contractSchema, contractWithdrawalSchema } from '../api/commissions.ts';
import { acceptedSchema, mismatchQuerySchema, notedSchema } from '../api/mismatches.ts';
import { numbersQuerySchema } from '../api/numbers.ts';
import { newOpeningSchema, openingReversalSchema } from '../api/openings.ts';
import { newRunSchema } from '../api/reconciliations.ts';
import { newReportSchema, reportFileQuerySchema } from '../api/reports.ts';
import { newTokenSchema } from '../api/tokens.ts';
import { balanceQuerySchema, transactionQuerySchema } from '../api/transactions.ts';
import { webhookQuerySchema } from '../api/webhooks.ts';
import * as c from './components.ts';
import { acting, done, listing, made, type Operation, ok, reading } from './describe-operation.ts';
import { callbackOperations, merchantOperations } from './merchant-operations.ts';

const LEDGER = 'Ledger';
const RUNS = 'Reconciliations';
const MISMATCHES = 'Mismatches';
const INBOX = 'Webhooks';
const REPORTS = 'Reports';
const ACCESS = 'Access';
const SERVICE = 'Service';

const received = z.object({ received: z.literal(true), id: z.string(), duplicate: z.boolean() });
const receiving = {
  method: 'post',
  tag: INBOX,
  summary: 'Receive a webhook of the provider: answered once it is durable',
  takes: 'provider',
  body: z.unknown().describe('whatever the provider sends'),
  answers: ok('Kept', received),
} as const;

/** Every route of the program interfaces. A test holds this list against what is mounted. */
export const OPERATIONS: readonly Operation[] = [
  { ...receiving, path: '/webhooks/pix' },
  { ...receiving, path: '/webhooks/pix/{token}' },
  {
    method: 'get',
    path: '/healthz',
    tag: SERVICE,
    summary: 'Alive',
    takes: 'nothing',
    answers: ok('Alive', z.object({ alive: z.literal(true) })),
  },
  {
    method: 'get',
    path: '/readyz',
    tag: SERVICE,
    summary: 'Able to take webhooks',
    takes: 'nothing',
    answers: {
      ...ok('Ready', z.object({ ready: z.literal(true), degraded: z.literal(true).optional() })),
      503: { description: 'Not ready', schema: c.problem, contentType: 'application/problem+json' },
    },
  },
  {
    method: 'get',
    path: '/metrics',
    tag: SERVICE,
    summary: 'What is counted, for Prometheus: from elsewhere than a private network, with a viewer’s token',
    takes: 'nothing',
    answers: { 200: { description: 'The text format', schema: z.string(), contentType: 'text/plain' } },
  },
  listing('/transactions', { tag: LEDGER, items: c.transaction, query: transactionQuerySchema }),
  reading('/transactions/{id}', { tag: LEDGER, summary: 'One transaction and its story', answer: c.transactionStory }),
  reading('/balances', {
    tag: LEDGER,
    summary: 'Every account: what happened before `at`, as known before `known`',
    query: balanceQuerySchema,
    answer: c.balances,
  }),
  listing('/openings', { tag: LEDGER, items: c.opening }),
  acting('/openings', 'admin', {
    tag: LEDGER,
    summary: "State a platform's balance at the start of a day, where its books begin, or take one back",
    body: z.union([newOpeningSchema, openingReversalSchema]),
    answers: made('Opened', c.opening),
  }),
  listing('/adjustments', { tag: LEDGER, items: c.adjustment }),
  acting('/adjustments', 'accountant', {
    tag: LEDGER,
    summary: "Enter what the provider's list does not show, from the opening's day on, or reverse such an entry",
    body: z.union([adjustmentSchema, reversalSchema]),
    answers: made('Entered', c.adjustment),
  }),
  listing('/statements', { tag: LEDGER, items: c.statement }),
  acting('/statements', ['operator', 'accountant'], {
    tag: LEDGER,
    summary: "State the balance that the provider's panel shows at an instant",
    body: statementSchema,
    answers: made('Stated', c.statement),
  }),
  listing('/commissions', { tag: LEDGER, items: c.commissionContract }),
  acting('/commissions', 'admin', {
    tag: LEDGER,
    summary: 'State what the provider may charge, or take such a contract back',
    body: z.union([contractSchema, contractWithdrawalSchema]),
    answers: made('Stated', c.commissionContract),
  }),
  listing('/reconciliations', { tag: RUNS, items: c.run }),
  acting('/reconciliations', 'operator', {
    tag: RUNS,
    summary: 'Start a run for a range of days',
    body: newRunSchema,
    answers: done('Queued', c.run),
  }),
  reading('/reconciliations/{id}', { tag: RUNS, summary: 'One run', answer: c.run }),
  listing('/reconciliations/{id}/pages', { tag: RUNS, items: c.runPage }),
  listing('/mismatches', { tag: MISMATCHES, items: c.mismatch, query: mismatchQuerySchema }),
  reading('/mismatches/{id}', { tag: MISMATCHES, summary: 'One mismatch', answer: c.mismatch }),
  acting('/mismatches/{id}/acknowledge', 'operator', {
    tag: MISMATCHES,
    summary: 'Say that somebody looks into it',
    body: notedSchema,
    answers: ok('Acknowledged', c.mismatch),
  }),
  acting('/mismatches/{id}/resolve', 'operator', {
    tag: MISMATCHES,
    summary: 'Say that it is over, and why; the books stay as they are',
    body: notedSchema,
    answers: ok('Resolved', c.mismatch),
  }),
  acting('/mismatches/{id}/accept', 'operator', {
    tag: MISMATCHES,
    summary:
      'Book what the provider shows (amount_differs, commission_differs, reference_differs, status_differs): by reversing entries; of a list_unstable with `actual.surplus`, accept that the total is too high by it: the day counts as proven while that number stays; merchants are told pix.<operation>.corrected. 409 when the provider shows it no more, or `actual` is given and no longer the evidence',
    body: acceptedSchema,
    answers: ok('Accepted', c.mismatch),
  }),
  reading('/numbers', {
    tag: MISMATCHES,
    summary: 'How webhooks come, by day of the change; which days are proven; what is at stake',
    query: numbersQuerySchema,
    answer: c.numbers,
  }),
  listing('/webhooks', { tag: INBOX, items: c.webhook, query: webhookQuerySchema }),
  reading('/webhooks/{id}', { tag: INBOX, summary: 'One webhook and its items', answer: c.webhookWithItems }),
  acting('/webhooks/{id}/reprocess', 'operator', {
    tag: INBOX,
    summary: 'Have it looked at again',
    answers: done('Waiting', c.webhookWithItems),
  }),
  ...merchantOperations(),
  ...callbackOperations(),
  ...reportOperations(),
  listing('/tokens', { tag: ACCESS, items: c.token, takes: 'admin' }),
  acting('/tokens', 'admin', {
    tag: ACCESS,
    summary: 'Create a token',
    body: newTokenSchema,
    answers: made('Its text is shown this once', c.newToken),
  }),
  {
    method: 'delete',
    path: '/api/v1/tokens/{id}',
    tag: ACCESS,
    summary: 'Revoke a token',
    takes: 'admin',
    answers: { 204: { description: 'Revoked' } },
  },
  listing('/audit', { tag: ACCESS, items: c.auditRow, query: auditQuerySchema, takes: 'admin' }),
  reading('/openapi.json', {
    tag: SERVICE,
    summary: 'This document',
    answer: z.record(z.string(), z.unknown()),
  }),
];

function reportOperations(): Operation[] {
  return [
    listing('/reports', { tag: REPORTS, items: c.report }),
    acting('/reports', 'operator', {
      tag: REPORTS,
      summary: "Make a day's report",
      body: newReportSchema,
      answers: {
        ...ok('Nothing has changed: the newest revision', c.report),
        ...made('A new revision', c.report),
        ...done('Being made', z.object({ day: z.iso.date(), state: z.literal('being_made') })),
      },
    }),
    {
      method: 'get',
      path: '/api/v1/reports/{file}',
      tag: REPORTS,
      summary: 'The newest revision: YYYY-MM-DD.xlsx, .csv or .journal',
      takes: 'viewer',
      query: reportFileQuerySchema,
      answers: { 200: { description: 'The file', contentType: 'application/octet-stream' } },
    },
  ];
}
