import { z } from 'zod';
import { REPORT_MAKERS } from '../../access/roles.ts';
import { accepted, created, describeTag, type Operation, ok } from '../../operations/describe-operation.ts';
import { listedMonth, shownMonth } from '../../operations/rows/months.ts';
import { report } from '../../operations/rows/reports.ts';
import { monthCloseSchema, monthReopeningSchema } from '../api/books/months.ts';
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
    'The newest revision: YYYY-MM-DD.xlsx, .csv, .journal, .ofx, .lancamentos.csv, .conta-azul.csv, .calima.csv or .continued.journal; a month: YYYY-MM; up to 92 days: YYYY-MM-DD..YYYY-MM-DD',
    { 200: { description: 'The file', contentType: 'application/octet-stream' } },
    reportFileQuerySchema,
  ),
  Reports.list('/months', listedMonth),
  Reports.get('/months/{month}', 'One month, YYYY-MM: what keeps it open, or the balances that it fixes', shownMonth),
  Reports.post(
    '/months/{month}/close',
    'accountant',
    'Close a month: its files keep the cut of now. 409 with `refusals` while something of it is in doubt',
    { ...ok('It was closed already', shownMonth), ...created('Closed', shownMonth) },
    monthCloseSchema,
  ),
  Reports.post(
    '/months/{month}/reopen',
    'admin',
    'Reopen a month: its files show the newest cut again. 409 with `refusals` while a later month is closed',
    ok('Open', shownMonth),
    monthReopeningSchema,
  ),
];
