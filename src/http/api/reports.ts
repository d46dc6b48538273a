import type { Request, Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { isDay } from '../../domain/calendar.ts';
import { reportPlatform } from '../../operations/books/reports.ts';
import { locale, revision } from '../../operations/fields.ts';
import { FILE_FORMATS, type FileFormat } from '../../reports/plan/report-plan.ts';
import { FORMAT_FACTS } from '../../reports/render/formats/formats.ts';
import { parseRange } from '../../reports/serve/export-range.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { parseQuery } from '../parse-request.ts';
import { sendRange, sendReport } from '../send-report.ts';

export const reportFileQuerySchema = z.object({
  revision,
  locale: locale.optional(),
  platform: reportPlatform,
  group: z.enum(['day'], 'must be day').optional().describe('of entries: one posting a day, platform and account'),
});

/** The files of reports. */
export function reportRoutes(context: Context): Router {
  return createRouter().get('/reports/:file', requireRole('viewer'), async (request, response) => {
    const { revision, ...query } = parseQuery(request, reportFileQuerySchema);
    const { name, format } = readFileName(request);
    const range = parseRange(context, name);
    if (range === undefined && !isDay(name)) throw refuse('report_address', ADDRESSES);
    if (range === undefined) await sendReport(context, response, { day: name, format, revision, ...query });
    else if (revision === undefined) await sendRange(context, response, { ...range, format, ...query });
    else throw refuseField('revision', 'revision_of_range');
  });
}

const EXTENSIONS = FILE_FORMATS.map((format) => `.${FORMAT_FACTS[format].extension}`);
const ADDRESSES = { formats: EXTENSIONS.join(', ') };

function readFileName(request: Request): { name: string; format: FileFormat } {
  const [, name, extension] = /^([\d.-]+?)\.([a-z][a-z.-]*)$/.exec(String(request.params.file)) ?? [];
  const format = FILE_FORMATS.find((one) => FORMAT_FACTS[one].extension === extension);
  if (name === undefined || format === undefined) throw refuse('report_address', ADDRESSES);
  return { name, format };
}
