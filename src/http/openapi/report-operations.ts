import { z } from 'zod';
import { REPORT_MAKERS } from '../../access/roles.ts';
import { accepted, created, describeTag, type Operation, ok } from '../../operations/describe-operation.ts';
import { report } from '../../operations/rows/reports.ts';
import { newReportSchema, reportFileQuerySchema, reportQuerySchema } from '../api/reports.ts';

const Reports = describeTag('Reports');
const beingMade = z.object({ day: z.iso.date(), state: z.literal('being_made') });

/** The routes of reports and months. */
export const REPORT_OPERATIONS: readonly Operation[] = [
  Reports.list('/reports', report, reportQuerySchema),
  Reports.post(
    '/reports',
    REPORT_MAKERS,
    "Make a day's report",
    {
      ...ok('Nothing has changed: the newest revision', report),
      ...created('A new revision', report),
      ...accepted('Being made', beingMade),
    },
    newReportSchema,
  ),
  Reports.get(
    '/reports/{file}',
    'The newest revision: YYYY-MM-DD.xlsx, .csv, .journal, .ofx, .lancamentos.csv, .conta-azul.csv, .calima.csv, .continued.journal, .a-receber.csv or .nao-identificados.csv; a month: YYYY-MM; up to 92 days: YYYY-MM-DD..YYYY-MM-DD',
    { 200: { description: 'The file', contentType: 'application/octet-stream' } },
    reportFileQuerySchema,
  ),
];
