import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../access/audit.ts';
import { REPORT_MAKERS } from '../../access/roles.ts';
import type { Context } from '../../context.ts';
import { limitStatementTime } from '../../database/limit-statement-time.ts';
import { type Day, isDay } from '../../domain/calendar.ts';
import { PLATFORM_CHARS_MAX } from '../../domain/platform.ts';
import { describeError } from '../../log.ts';
import { day, revision } from '../../operations/fields.ts';
import { FILE_FORMATS, type FileFormat } from '../../reports/plan/report-plan.ts';
import { FORMAT_FACTS } from '../../reports/render/formats/formats.ts';
import { type MadeReport, makeReport } from '../../reports/revisions/make-report.ts';
import { buildOnce } from '../../reports/serve/build-once.ts';
import { parseRange } from '../../reports/serve/export-range.ts';
import { listReports } from '../../reports/serve/list-reports.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { getActor, requireRole } from '../access/authorize.ts';
import { authorizePlatform } from '../access/choose-platform.ts';
import { createRouter } from '../create-router.ts';
import { parsePage, presentPage } from '../parse-page.ts';
import { parseBody, parseQuery } from '../parse-request.ts';
import { sendRange, sendReport } from '../send-report.ts';

/** A day of 100,000 transactions took 6.6 s on two busy cores. A request that waits longer is answered 202. */
const WAIT_MS = 20_000;

export const newReportSchema = z.object({ day });
const platform = z.string().min(1).max(PLATFORM_CHARS_MAX).optional().describe('none: what has no platform');
export const reportQuerySchema = z.object({
  platform: platform.describe('whose figures the list shows; none: what has no platform'),
});
export const reportFileQuerySchema = z.object({
  revision,
  locale: z.enum(['pt-BR', 'en'], 'must be pt-BR or en').optional(),
  platform,
});

/** Reports: the list of revisions, a request for the next one, and the files of a revision. */
export function reportRoutes(context: Context, waitMs = WAIT_MS): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };

  router.get('/reports', requireRole('viewer'), async (request, response) => {
    const query = parseQuery(request, reportQuerySchema);
    authorizePlatform(response, query.platform);
    const { reports, next } = await listReports(reading, parsePage(request), query.platform);
    response.json(presentPage('reports', reports, next ?? undefined));
  });

  router.post('/reports', requireRole(...REPORT_MAKERS), async (request, response) => {
    const { day } = parseBody(request, newReportSchema);
    // audited first: a report takes long, and the timetable makes the same one
    await auditChange(context, async () => undefined, {
      actor: getActor(response),
      action: 'reports.make',
      target: day,
    });
    const made = await waitFor(startMaking(context, day), waitMs);
    if (!made) {
      response.status(202).json({ day, state: 'being_made' });
      return;
    }
    response.status(made.changed ? 201 : 200).json(made.report);
  });

  router.get('/reports/:file', requireRole('viewer'), async (request, response) => {
    const { revision, ...query } = parseQuery(request, reportFileQuerySchema);
    const { name, format } = readFileName(request);
    const range = parseRange(context, name);
    if (range === undefined && !isDay(name)) throw refuse('report_address', ADDRESSES);
    if (range === undefined) await sendReport(context, response, { day: name, format, revision, ...query });
    else if (revision === undefined) await sendRange(context, response, { ...range, format, ...query });
    else throw refuseField('revision', 'revision_of_range');
  });
  return router;
}

function startMaking(context: Context, day: Day): Promise<MadeReport> {
  const work = buildOnce(context, `day ${day}`, () => makeReport(context, day));
  // after the request was answered 202, the log is the only place for a failure
  work.catch((error: unknown) => context.log.error({ error: describeError(error), day }, 'a report could not be made'));
  return work;
}

async function waitFor(work: Promise<MadeReport>, waitMs: number): Promise<MadeReport | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, sleep(waitMs, undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

const EXTENSIONS = FILE_FORMATS.map((format) => `.${FORMAT_FACTS[format].extension}`);
const ADDRESSES = { formats: EXTENSIONS.join(', ') };

function readFileName(request: Request): { name: string; format: FileFormat } {
  const [, name, extension] = /^([\d.-]+?)\.([a-z][a-z.-]*)$/.exec(String(request.params.file)) ?? [];
  const format = FILE_FORMATS.find((one) => FORMAT_FACTS[one].extension === extension);
  if (name === undefined || format === undefined) throw refuse('report_address', ADDRESSES);
  return { name, format };
}
