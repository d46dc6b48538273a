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
import { auditRow, newToken, token } from './components/access.ts';
import * as ledger from './components/ledger.ts';
import { problem } from './components/problem.ts';
import * as reconciliation from './components/reconciliation.ts';
import { report } from './components/reports.ts';
import * as webhooks from './components/webhooks.ts';
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
  access: 'provider',
  body: z.unknown().describe('any JSON of the provider'),
  responses: okResponse('Kept', received),
} as const;

/** All routes of the API, the receiver and the health checks. A test compares this list with the mounted routes. */
export const API_OPERATIONS: readonly Operation[] = [
  { ...receiving, path: '/webhooks/pix' },
  { ...receiving, path: '/webhooks/pix/{token}' },
  {
    method: 'get',
    path: '/healthz',
    tag: SERVICE,
    summary: 'Alive',
    access: 'nothing',
    responses: okResponse('Alive', z.object({ alive: z.literal(true) })),
  },
  {
    method: 'get',
    path: '/readyz',
    tag: SERVICE,
    summary: 'Able to take webhooks',
    access: 'nothing',
    responses: {
      ...okResponse('Ready', z.object({ ready: z.literal(true), degraded: z.literal(true).optional() })),
      503: { description: 'Not ready', schema: problem, contentType: 'application/problem+json' },
    },
  },
  {
    method: 'get',
    path: '/metrics',
    tag: SERVICE,
    summary: 'What is counted, for Prometheus: from elsewhere than a private network, with a viewer’s token',
    access: 'nothing',
    responses: { 200: { description: 'The text format', schema: z.string(), contentType: 'text/plain' } },
  },
  listOperation('/transactions', { tag: LEDGER, items: ledger.transaction, query: transactionQuerySchema }),
  getOperation('/transactions/{id}', {
    tag: LEDGER,
    summary: 'One transaction and its story',
    item: ledger.transactionTimeline,
  }),
  getOperation('/balances', {
    tag: LEDGER,
    summary: 'Every account: what happened before `at`, as known before `known`',
    query: balanceQuerySchema,
    item: ledger.balances,
  }),
  listOperation('/openings', { tag: LEDGER, items: ledger.opening }),
  postOperation('/openings', 'admin', {
    tag: LEDGER,
    summary: "State a platform's balance at the start of a day, where its books begin, or take one back",
    body: z.union([newOpeningSchema, openingReversalSchema]),
    responses: createdResponse('Opened', ledger.opening),
  }),
  listOperation('/adjustments', { tag: LEDGER, items: ledger.adjustment }),
  postOperation('/adjustments', 'accountant', {
    tag: LEDGER,
    summary: "Enter what the provider's list does not show, from the opening's day on, or reverse such an entry",
    body: z.union([adjustmentSchema, reversalSchema]),
    responses: createdResponse('Entered', ledger.adjustment),
  }),
  listOperation('/statements', { tag: LEDGER, items: ledger.statement }),
  postOperation('/statements', ['operator', 'accountant'], {
    tag: LEDGER,
    summary: "State the balance that the provider's panel shows at an instant",
    body: statementSchema,
    responses: createdResponse('Stated', ledger.statement),
  }),
  listOperation('/commissions', { tag: LEDGER, items: ledger.commissionContract }),
  postOperation('/commissions', 'admin', {
    tag: LEDGER,
    summary: 'State what the provider may charge, or take such a contract back',
    body: z.union([contractSchema, contractWithdrawalSchema]),
    responses: createdResponse('Stated', ledger.commissionContract),
  }),
  listOperation('/reconciliations', { tag: RUNS, items: reconciliation.run }),
  postOperation('/reconciliations', 'operator', {
    tag: RUNS,
    summary: 'Start a run for a range of days',
    body: newRunSchema,
    responses: acceptedResponse('Queued', reconciliation.run),
  }),
  getOperation('/reconciliations/{id}', { tag: RUNS, summary: 'One run', item: reconciliation.run }),
  listOperation('/reconciliations/{id}/pages', { tag: RUNS, items: reconciliation.runPage }),
  listOperation('/mismatches', { tag: MISMATCHES, items: reconciliation.mismatch, query: mismatchQuerySchema }),
  getOperation('/mismatches/{id}', { tag: MISMATCHES, summary: 'One mismatch', item: reconciliation.mismatch }),
  postOperation('/mismatches/{id}/acknowledge', 'operator', {
    tag: MISMATCHES,
    summary: 'Acknowledge a mismatch: somebody works on it',
    body: notedSchema,
    responses: okResponse('Acknowledged', reconciliation.mismatch),
  }),
  postOperation('/mismatches/{id}/resolve', 'operator', {
    tag: MISMATCHES,
    summary: 'Resolve a mismatch by hand, with the reason; the ledger stays as it is',
    body: notedSchema,
    responses: okResponse('Resolved', reconciliation.mismatch),
  }),
  postOperation('/mismatches/{id}/accept', 'operator', {
    tag: MISMATCHES,
    summary:
      'Book what the provider shows (amount_differs, commission_differs, reference_differs, status_differs): by reversing entries; of a list_unstable with `actual.surplus`, accept that the total is too high by it: the day counts as proven while that number stays; merchants receive pix.<operation>.corrected. 409 when the provider shows it no more, or `actual` is given and no longer the evidence',
    body: acceptedSchema,
    responses: okResponse('Accepted', reconciliation.mismatch),
  }),
  getOperation('/numbers', {
    tag: MISMATCHES,
    summary: 'How webhooks come, by day of the change; which days are proven; what is at stake',
    query: numbersQuerySchema,
    item: reconciliation.numbers,
  }),
  listOperation('/webhooks', { tag: INBOX, items: webhooks.webhook, query: webhookQuerySchema }),
  getOperation('/webhooks/{id}', { tag: INBOX, summary: 'One webhook and its items', item: webhooks.webhookWithItems }),
  postOperation('/webhooks/{id}/reprocess', 'operator', {
    tag: INBOX,
    summary: 'Process it again',
    responses: acceptedResponse('Waiting', webhooks.webhookWithItems),
  }),
  ...merchantOperations(),
  ...callbackOperations(),
  ...reportOperations(),
  listOperation('/tokens', { tag: ACCESS, items: token, access: 'admin' }),
  postOperation('/tokens', 'admin', {
    tag: ACCESS,
    summary: 'Create a token',
    body: newTokenSchema,
    responses: createdResponse('Its text is shown this once', newToken),
  }),
  {
    method: 'delete',
    path: '/api/v1/tokens/{id}',
    tag: ACCESS,
    summary: 'Revoke a token',
    access: 'admin',
    responses: { 204: { description: 'Revoked' } },
  },
  listOperation('/audit', { tag: ACCESS, items: auditRow, query: auditQuerySchema, access: 'admin' }),
  getOperation('/openapi.json', {
    tag: SERVICE,
    summary: 'This document',
    item: z.record(z.string(), z.unknown()),
  }),
];

function reportOperations(): Operation[] {
  return [
    listOperation('/reports', { tag: REPORTS, items: report }),
    postOperation('/reports', 'operator', {
      tag: REPORTS,
      summary: "Make a day's report",
      body: newReportSchema,
      responses: {
        ...okResponse('Nothing has changed: the newest revision', report),
        ...createdResponse('A new revision', report),
        ...acceptedResponse('Being made', z.object({ day: z.iso.date(), state: z.literal('being_made') })),
      },
    }),
    {
      method: 'get',
      path: '/api/v1/reports/{file}',
      tag: REPORTS,
      summary: 'The newest revision: YYYY-MM-DD.xlsx, .csv or .journal',
      access: 'viewer',
      query: reportFileQuerySchema,
      responses: { 200: { description: 'The file', contentType: 'application/octet-stream' } },
    },
  ];
}
