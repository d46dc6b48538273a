/**
 * The API's operations: a line for each. Queries and bodies are the schemas that the routes parse with; responses are
 * the schemas in `components/`.
 */
import { z } from 'zod';
import { DECISIONS_MAX } from '../../imports/kinds/decisions.ts';
import { SUBJECTS } from '../../operations/catalogue.ts';
import { describeTag, type Operation, ok } from '../../operations/describe-operation.ts';
import { expectedFilters } from '../../operations/expected/read-expected.ts';
import { problem } from '../../operations/rows/problem.ts';
import { RANGE_DAYS_MAX } from '../../reports/serve/export-range.ts';
import { logProofQuerySchema } from '../api/log.ts';
import { decisionQuerySchema } from '../api/mismatches.ts';
import { reportFileQuerySchema } from '../api/reports.ts';
import { describeDeclared } from './describe-declared.ts';
import { IMPORT_OPERATIONS } from './import-operations.ts';
import { PORTAL_OPERATIONS } from './portal-operations.ts';

const Expected = describeTag('Expected payments');
const Mismatches = describeTag('Mismatches');
const Reports = describeTag('Reports');
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
  Service.get(
    '/log/proof',
    'Prove that a seal, a closed month or a merchant’s day is in the log',
    { 200: { description: 'c2sp.org/tlog-proof@v1', schema: z.string(), contentType: 'text/plain' } },
    logProofQuerySchema,
  ),
  {
    ...Expected.get(
      '/expected-payments.csv',
      'The list as CSV, with the columns of its import first',
      { 200: { description: 'The file', schema: z.string(), contentType: 'text/csv' } },
      expectedFilters,
    ),
    isForSources: true,
  },
  ...IMPORT_OPERATIONS,
  ...SUBJECTS.flatMap(describeDeclared),
  Mismatches.get(
    '/mismatches.xlsx',
    `Up to ${DECISIONS_MAX} open ones as a workbook, the most at stake first: with decisions written into it, it comes back by POST /imports/decisions`,
    { 200: { description: 'The file', contentType: 'application/octet-stream' } },
    decisionQuerySchema,
  ),
  ...PORTAL_OPERATIONS,
  Reports.get(
    '/reports/{file}',
    `The newest revision: YYYY-MM-DD.xlsx, .csv, .journal, .ofx, .lancamentos.csv, .conta-azul.csv, .calima.csv, .continued.journal, .a-receber.csv or .nao-identificados.csv; a month: YYYY-MM; up to ${RANGE_DAYS_MAX} days: YYYY-MM-DD..YYYY-MM-DD`,
    { 200: { description: 'The file', contentType: 'application/octet-stream' } },
    reportFileQuerySchema,
  ),
  {
    ...Service.get(
      '/openapi.json',
      'This document; for a merchant, of what it calls',
      z.record(z.string(), z.unknown()),
    ),
    isForMerchantsToo: true,
  },
];
