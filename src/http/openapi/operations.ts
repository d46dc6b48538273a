/**
 * The API's operations: a line for each. Queries and bodies are the schemas that the routes parse with; responses are
 * the schemas in `components/`.
 */
import { z } from 'zod';
import { SUBJECTS } from '../../operations/catalogue.ts';
import { accepted, describeTag, type Operation, ok } from '../../operations/describe-operation.ts';
import { alert } from '../../operations/rows/alerts.ts';
import { callbackWithAttempts } from '../../operations/rows/callbacks.ts';
import { jobs } from '../../operations/rows/jobs.ts';
import * as ledger from '../../operations/rows/ledger.ts';
import { merchant } from '../../operations/rows/merchants.ts';
import { problem } from '../../operations/rows/problem.ts';
import { mismatch, numbers, run, runPage } from '../../operations/rows/reconciliation.ts';
import { callbackSeries, moneySeries } from '../../operations/rows/series.ts';
import { webhook, webhookWithItems } from '../../operations/rows/webhooks.ts';
import { alertQuerySchema } from '../api/alerts.ts';
import { accountMapSchema } from '../api/books/accounts.ts';
import { platformNameSchema } from '../api/books/platforms.ts';
import {
  acceptedSchema,
  mismatchQuerySchema,
  notedSchema,
  resolvedManySchema,
  resolvedSchema,
} from '../api/mismatches.ts';
import { numbersQuerySchema } from '../api/numbers.ts';
import { newRunSchema } from '../api/reconciliations.ts';
import { callbackSeriesQuerySchema, moneySeriesQuerySchema } from '../api/series.ts';
import { balanceQuerySchema, transactionQuerySchema } from '../api/transactions.ts';
import { webhookQuerySchema } from '../api/webhooks.ts';
import { BANK_OPERATIONS } from './bank-operations.ts';
import { describeDeclared } from './describe-declared.ts';
import { IMPORT_OPERATIONS } from './import-operations.ts';
import { PORTAL_OPERATIONS } from './portal-operations.ts';
import { REPORT_OPERATIONS } from './report-operations.ts';

const Ledger = describeTag('Ledger');
const Runs = describeTag('Reconciliations');
const Mismatches = describeTag('Mismatches');
const Inbox = describeTag('Webhooks');
const Merchants = describeTag('Merchants');
const Callbacks = describeTag('Callbacks');
const Service = describeTag('Service');

const received = z.object({ received: z.literal(true), id: z.string(), duplicate: z.boolean() });
const receiving = {
  method: 'post',
  tag: 'Webhooks',
  summary: 'Receive a webhook of the provider: answered once it is durable',
  access: 'provider',
  body: z.unknown().describe('any JSON of the provider'),
  responses: ok('Kept', received),
} as const;
const checked = { method: 'get', tag: 'Service', access: 'nothing' } as const;
const describeSubjects = (of: string) => SUBJECTS.filter(({ tag }) => tag === of).flatMap(describeDeclared);

/** All routes of the API, the receiver and the health checks. A test compares this list with the mounted routes. */
export const API_OPERATIONS: readonly Operation[] = [
  { ...receiving, path: '/webhooks/pix' },
  { ...receiving, path: '/webhooks/pix/{token}' },
  { ...checked, path: '/healthz', summary: 'Alive', responses: ok('Alive', z.object({ alive: z.literal(true) })) },
  {
    ...checked,
    path: '/readyz',
    summary: 'Able to take webhooks',
    responses: {
      ...ok('Ready', z.object({ ready: z.literal(true), degraded: z.literal(true).optional() })),
      503: { description: 'Not ready', schema: problem, contentType: 'application/problem+json' },
    },
  },
  {
    ...checked,
    path: '/metrics',
    summary: 'What is counted, for Prometheus: from elsewhere than a private network, with a viewer’s token',
    responses: { 200: { description: 'The text format', schema: z.string(), contentType: 'text/plain' } },
  },
  Ledger.list('/transactions', ledger.transaction, transactionQuerySchema),
  Ledger.get('/transactions/{id}', 'One transaction and its story', ledger.transactionTimeline),
  Ledger.get('/balances', 'Every account before `at`, as known before `known`', ledger.balances, balanceQuerySchema),
  Ledger.get('/series/money', 'What moved, and the balance, by day or hour', moneySeries, moneySeriesQuerySchema),
  Ledger.get('/platforms', 'The names of platforms', ledger.platformNames),
  Ledger.put(
    '/platforms',
    ['operator', 'accountant'],
    'Name a platform, or take its name back',
    ok('All names', ledger.platformNames),
    platformNameSchema,
  ),
  Ledger.get('/accounts', "The map of the ledger's accounts to the customer's chart of accounts", ledger.accountMap),
  Ledger.put('/accounts', 'accountant', 'Replace the map', ok('The map', ledger.accountMap), accountMapSchema),
  ...BANK_OPERATIONS,
  ...IMPORT_OPERATIONS,
  ...describeSubjects('Ledger'),
  Runs.list('/reconciliations', run),
  Runs.post('/reconciliations', 'operator', 'Start a run for a range of days', accepted('Queued', run), newRunSchema),
  Runs.get('/reconciliations/{id}', 'One run', run),
  Runs.list('/reconciliations/{id}/pages', runPage),
  Mismatches.list('/alerts', alert, alertQuerySchema),
  Mismatches.list('/mismatches', mismatch, mismatchQuerySchema),
  Mismatches.get('/mismatches/{id}', 'One mismatch', mismatch),
  Mismatches.post(
    '/mismatches/resolve',
    'operator',
    'Resolve up to 500 by hand, with one note: by their ids, or all of a kind; repeat while there are `more`',
    ok('Resolved', z.object({ resolved: z.int(), more: z.boolean() })),
    resolvedManySchema,
  ),
  Mismatches.post(
    '/mismatches/{id}/acknowledge',
    'operator',
    'Acknowledge a mismatch: somebody works on it',
    ok('Acknowledged', mismatch),
    notedSchema,
  ),
  Mismatches.post(
    '/mismatches/{id}/resolve',
    'operator',
    'Resolve a mismatch by hand, with the reason; the ledger stays as it is',
    ok('Resolved', mismatch),
    resolvedSchema,
  ),
  Mismatches.post(
    '/mismatches/{id}/accept',
    'operator',
    'Book what the provider shows (amount_differs, commission_differs, reference_differs, status_differs): by reversing entries; of a list_unstable with `actual.surplus`, accept that the total is too high by it: the day counts as proven while that number stays; merchants receive pix.<operation>.corrected. `actual` is the evidence that the caller saw, as the mismatch shows it: 422 without it, 409 when it has changed since, or the provider shows it no more',
    ok('Accepted', mismatch),
    acceptedSchema,
  ),
  Mismatches.get(
    '/numbers',
    'How webhooks come, by day of the change; which days are proven; what is at stake',
    numbers,
    numbersQuerySchema,
  ),
  Inbox.list('/webhooks', webhook, webhookQuerySchema),
  Inbox.get('/webhooks/{id}', 'One webhook and its items', webhookWithItems),
  Inbox.post('/webhooks/{id}/reprocess', 'operator', 'Process it again', accepted('Waiting', webhookWithItems)),
  ...describeSubjects('Merchants'),
  Merchants.get('/merchants/{id}', 'One merchant', merchant),
  ...PORTAL_OPERATIONS,
  ...describeSubjects('Callbacks'),
  Callbacks.get('/series/callbacks', 'How merchants answer, of a sample', callbackSeries, callbackSeriesQuerySchema),
  Callbacks.get('/callbacks/{id}', 'One callback, try by try', callbackWithAttempts),
  ...REPORT_OPERATIONS,
  ...describeSubjects('Access'),
  Service.get('/jobs', 'The jobs of the timetable: their last and next ticks', jobs),
  Service.get('/openapi.json', 'This document', z.record(z.string(), z.unknown())),
];
