import type { Request, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { limitStatementTime } from '../../database/limit-statement-time.ts';
import { ConfereError } from '../../domain/errors.ts';
import { listPages } from '../../reconciliation/numbers/read-pages.ts';
import { findRun, listRuns, type PresentedRun } from '../../reconciliation/numbers/read-runs.ts';
import { startRun } from '../../reconciliation/runs/start-run.ts';
import { getActor, requireRole } from '../access/authorize.ts';
import { presentPlatform } from '../access/mask-texts.ts';
import { createRouter } from '../create-router.ts';
import { parseNumberedPage, presentPage, trimPage } from '../parse-page.ts';
import { parseBody } from '../parse-request.ts';

export const newRunSchema = z.object({
  from: z.string('must be a day: YYYY-MM-DD'),
  to: z.string('must be a day: YYYY-MM-DD'),
  platform: z.string().min(1).max(64).optional(),
});

export function reconciliationRoutes(context: Context): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };
  router.post('/reconciliations', requireRole('operator'), async (req, response) => {
    const range = parseBody(req, newRunSchema);
    const actor = getActor(response);
    const { id } = await auditChange(
      context,
      (inner) => startRun(inner, { ...range, trigger: 'api', createdBy: actor }),
      (started) => ({ actor, action: 'reconciliations.start', target: started.id }),
    );
    const run = await findRun(context.db, id);
    response
      .status(202)
      .location(`/api/v1/reconciliations/${id}`)
      .json(run && withoutSeq(run));
  });

  router.get('/reconciliations', requireRole('viewer'), async (req, response) => {
    const { limit, after } = parseNumberedPage(req);
    const { rows, last } = trimPage(await listRuns(reading.db, limit + 1, after), limit);
    const shown = rows.map((row) => presentPlatform(response, withoutSeq(row)));
    response.json(presentPage('reconciliations', shown, last?.seq));
  });

  router.get('/reconciliations/:id', requireRole('viewer'), async (req: Request<{ id: string }>, response) => {
    const run = await findRun(context.db, req.params.id);
    if (!run) throw new ConfereError('not_found', 'there is no such reconciliation');
    response.json(presentPlatform(response, withoutSeq(run)));
  });

  router.get('/reconciliations/:id/pages', requireRole('viewer'), async (req: Request<{ id: string }>, response) => {
    const run = await findRun(context.db, req.params.id);
    if (!run) throw new ConfereError('not_found', 'there is no such reconciliation');
    const { limit, after } = parseNumberedPage(req);
    const { rows, last } = trimPage(await listPages(reading.db, run.seq, limit + 1, after), limit);
    const shown = rows.map(({ seq: _, ...evidence }) => evidence);
    response.json(presentPage('pages', shown, last?.seq));
  });
  return router;
}

function withoutSeq({ seq: _, ...run }: PresentedRun & { seq: number }): PresentedRun {
  return run;
}
