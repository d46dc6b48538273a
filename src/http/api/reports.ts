import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Router } from 'express';
import { z } from 'zod';
import { audit } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { limitStatementTime } from '../../database/limit-statement-time.ts';
import { type Day, isDay } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { describeError } from '../../log.ts';
import type { Format } from '../../reports/plan/report-plan.ts';
import { type MadeReport, makeReport } from '../../reports/revisions/make-report.ts';
import { buildOnce } from '../../reports/serve/build-once.ts';
import { listReports } from '../../reports/serve/list-reports.ts';
import { openReport } from '../../reports/serve/open-report.ts';
import { canSeePersonalData, getActor, requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { parsePage, presentPage } from '../parse-page.ts';
import { parseBody, parseQuery } from '../parse-request.ts';

/** A day of 100,000 transactions took 6.6 s on two busy cores; whoever waits for more is told that it is being made. */
const PATIENCE_MS = 20_000;

const CONTENT_TYPE: Record<Format, string> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
  journal: 'text/plain; charset=utf-8',
};

export const newReportSchema = z.object({
  day: z.string('must be a day: YYYY-MM-DD').refine(isDay, 'must be a day: YYYY-MM-DD'),
});
export const reportFileQuerySchema = z.object({
  revision: z.coerce.number().int().positive().optional(),
  locale: z.enum(['pt-BR', 'en']).optional(),
  platform: z.string().min(1).max(64).optional().describe('none: what has no platform'),
});

/** Reports: the list of revisions, making the next one, and the files of the newest. */
export function reportRoutes(context: Context, patienceMs = PATIENCE_MS): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };

  router.get('/reports', requireRole('viewer'), async (request, response) => {
    const { reports, next } = await listReports(reading, parsePage(request));
    response.json(presentPage('reports', reports, next ?? undefined));
  });

  router.post('/reports', requireRole('operator'), async (request, response) => {
    const { day } = parseBody(request, newReportSchema);
    // before it: a report takes long, and is made on the timetable too
    await audit(context, { actor: getActor(response), action: 'reports.make', target: day });
    const made = await waitFor(startMaking(context, day), patienceMs);
    if (!made) {
      response.status(202).json({ day, state: 'being_made' });
      return;
    }
    response.status(made.changed ? 201 : 200).json(made.report);
  });

  router.get('/reports/:file', requireRole('viewer'), async (request, response) => {
    const { day, format } = readFileName(request);
    const { revision, locale, platform } = parseQuery(request, reportFileQuerySchema);
    const opened = await openReport(context, {
      day,
      format,
      ...(revision === undefined ? {} : { revision }),
      ...(locale === undefined ? {} : { locale }),
      ...(platform === undefined ? {} : { platform }),
      masked: !canSeePersonalData(response),
    });
    await audit(context, { actor: getActor(response), action: 'reports.download', target: opened.name });
    response.setHeader('content-disposition', `attachment; filename="${opened.name}"`);
    response.setHeader('content-type', CONTENT_TYPE[format]);
    response.setHeader('digest', `sha-256=${Buffer.from(opened.sha256, 'hex').toString('base64')}`);
    await new Promise<void>((resolve, reject) => {
      // dotfiles: DATA_DIR may lie under a directory whose name begins with a dot
      response.sendFile(opened.file, { dotfiles: 'allow', cacheControl: false, lastModified: false }, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  });
  return router;
}

function startMaking(context: Context, day: Day): Promise<MadeReport> {
  const work = buildOnce(context, `day ${day}`, () => makeReport(context, day));
  // a failure after our patience ended has nobody left to tell
  work.catch((error: unknown) => context.log.error({ error: describeError(error), day }, 'a report could not be made'));
  return work;
}

async function waitFor(work: Promise<MadeReport>, patienceMs: number): Promise<MadeReport | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, sleep(patienceMs, undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

function readFileName(request: Request): { day: Day; format: Format } {
  const match = /^(\d{4}-\d{2}-\d{2})\.(xlsx|csv|journal)$/.exec(String(request.params.file));
  const [, day, format] = match ?? [];
  if (day === undefined || format === undefined || !isDay(day)) {
    throw new ConfereError('not_found', 'a report is at /reports/YYYY-MM-DD.xlsx, .csv or .journal');
  }
  return { day, format: format as Format };
}
