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
import {
  acceptedResponse,
  createdResponse,
  getOperation,
  listOperation,
  type Operation,
  okResponse,
  postOperation,
} from './describe-operation.ts';
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
  answers: okResponse('Kept', received),
} as const;

/** Every route of the program interfaces. A test holds this list against what is mounted. */
export const API_OPERATIONS: readonly Operation[] = [
  { ...receiving, path: '/webhooks/pix' },
  { ...receiving, path: '/webhooks/pix/{token}' },
  {
    method: 'get',
    path: '/healthz',
    tag: SERVICE,
    summary: 'Alive',
    takes: 'nothing',
    answers: okResponse('Alive', z.object({ alive: z.literal(true) })),
  },
  {
    method: 'get',
    path: '/readyz',
    tag: SERVICE,
    summary: 'Able to take webhooks',
    takes: 'nothing',
    answers: {
      ...okResponse('Ready', z.object({ ready: z.literal(true), degraded: z.literal(true).optional() })),
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
  listOperation('/transactions', { tag: LEDGER, items: c.transaction, query: transactionQuerySchema }),
  getOperation('/transactions/{id}', {
    tag: LEDGER,
    summary: 'One transaction and its story',
    answer: c.transactionTimeline,
  }),
  getOperation('/balances', {
    tag: LEDGER,
    summary: 'Every account: what happened before `at`, as known before `known`',
    query: balanceQuerySchema,
    answer: c.balances,
  }),
  listOperation('/openings', { tag: LEDGER, items: c.opening }),
  postOperation('/openings', 'admin', {
    tag: LEDGER,
    summary: "State a platform's balance at the start of a day, where its books begin, or take one back",
    body: z.union([newOpeningSchema, openingReversalSchema]),
    answers: createdResponse('Opened', c.opening),
  }),
  listOperation('/adjustments', { tag: LEDGER, items: c.adjustment }),
  postOperation('/adjustments', 'accountant', {
    tag: LEDGER,
    summary: "Enter what the provider's list does not show, from the opening's day on, or reverse such an entry",
    body: z.union([adjustmentSchema, reversalSchema]),
    answers: createdResponse('Entered', c.adjustment),
  }),
  listOperation('/statements', { tag: LEDGER, items: c.statement }),
  postOperation('/statements', ['operator', 'accountant'], {
    tag: LEDGER,
    summary: "State the balance that the provider's panel shows at an instant",
    body: statementSchema,
    answers: createdResponse('Stated', c.statement),
  }),
  listOperation('/commissions', { tag: LEDGER, items: c.commissionContract }),
  postOperation('/commissions', 'admin', {
    tag: LEDGER,
    summary: 'State what the provider may charge, or take such a contract back',
    body: z.union([contractSchema, contractWithdrawalSchema]),
    answers: createdResponse('Stated', c.commissionContract),
  }),
  listOperation('/reconciliations', { tag: RUNS, items: c.run }),
  postOperation('/reconciliations', 'operator', {
    tag: RUNS,
    summary: 'Start a run for a range of days',
    body: newRunSchema,
    answers: acceptedResponse('Queued', c.run),
  }),
  getOperation('/reconciliations/{id}', { tag: RUNS, summary: 'One run', answer: c.run }),
  listOperation('/reconciliations/{id}/pages', { tag: RUNS, items: c.runPage }),
  listOperation('/mismatches', { tag: MISMATCHES, items: c.mismatch, query: mismatchQuerySchema }),
  getOperation('/mismatches/{id}', { tag: MISMATCHES, summary: 'One mismatch', answer: c.mismatch }),
  postOperation('/mismatches/{id}/acknowledge', 'operator', {
    tag: MISMATCHES,
    summary: 'Say that somebody looks into it',
    body: notedSchema,
    answers: okResponse('Acknowledged', c.mismatch),
  }),
  postOperation('/mismatches/{id}/resolve', 'operator', {
    tag: MISMATCHES,
    summary: 'Say that it is over, and why; the books stay as they are',
    body: notedSchema,
    answers: okResponse('Resolved', c.mismatch),
  }),
  postOperation('/mismatches/{id}/accept', 'operator', {
    tag: MISMATCHES,
    summary:
      'Book what the provider shows (amount_differs, commission_differs, reference_differs, status_differs): by reversing entries; of a list_unstable with `actual.surplus`, accept that the total is too high by it: the day counts as proven while that number stays; merchants are told pix.<operation>.corrected. 409 when the provider shows it no more, or `actual` is given and no longer the evidence',
    body: acceptedSchema,
    answers: okResponse('Accepted', c.mismatch),
  }),
  getOperation('/numbers', {
    tag: MISMATCHES,
    summary: 'How webhooks come, by day of the change; which days are proven; what is at stake',
    query: numbersQuerySchema,
    answer: c.numbers,
  }),
  listOperation('/webhooks', { tag: INBOX, items: c.webhook, query: webhookQuerySchema }),
  getOperation('/webhooks/{id}', { tag: INBOX, summary: 'One webhook and its items', answer: c.webhookWithItems }),
  postOperation('/webhooks/{id}/reprocess', 'operator', {
    tag: INBOX,
    summary: 'Have it looked at again',
    answers: acceptedResponse('Waiting', c.webhookWithItems),
  }),
  ...merchantOperations(),
  ...callbackOperations(),
  ...reportOperations(),
  listOperation('/tokens', { tag: ACCESS, items: c.token, takes: 'admin' }),
  postOperation('/tokens', 'admin', {
    tag: ACCESS,
    summary: 'Create a token',
    body: newTokenSchema,
    answers: createdResponse('Its text is shown this once', c.newToken),
  }),
  {
    method: 'delete',
    path: '/api/v1/tokens/{id}',
    tag: ACCESS,
    summary: 'Revoke a token',
    takes: 'admin',
    answers: { 204: { description: 'Revoked' } },
  },
  listOperation('/audit', { tag: ACCESS, items: c.auditRow, query: auditQuerySchema, takes: 'admin' }),
  getOperation('/openapi.json', {
    tag: SERVICE,
    summary: 'This document',
    answer: z.record(z.string(), z.unknown()),
  }),
];

function reportOperations(): Operation[] {
  return [
    listOperation('/reports', { tag: REPORTS, items: c.report }),
    postOperation('/reports', 'operator', {
      tag: REPORTS,
      summary: "Make a day's report",
      body: newReportSchema,
      answers: {
        ...okResponse('Nothing has changed: the newest revision', c.report),
        ...createdResponse('A new revision', c.report),
        ...acceptedResponse('Being made', z.object({ day: z.iso.date(), state: z.literal('being_made') })),
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
