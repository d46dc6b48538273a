import type { Request, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { PLATFORM_CHARS_MAX } from '../../domain/platform.ts';
import { presentPlatform } from '../../operations/mask-texts.ts';
import { withoutSeq } from '../../operations/present-row.ts';
import { listPages } from '../../reconciliation/numbers/read-pages.ts';
import { findRun, listRuns } from '../../reconciliation/numbers/read-runs.ts';
import { startRun } from '../../reconciliation/runs/start-run.ts';
import { refuse } from '../../texts/refuse.ts';
import { getActor, getCaller, requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { presentPage, readPage } from '../parse-page.ts';
import { parseBody } from '../parse-request.ts';

export const newRunSchema = z.object({
  from: z.string('must be a day: YYYY-MM-DD'),
  to: z.string('must be a day: YYYY-MM-DD'),
  platform: z.string().min(1).max(PLATFORM_CHARS_MAX).optional(),
});

export function reconciliationRoutes(context: Context): Router {
  const router = createRouter();
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
    const { rows, next } = await readPage(context, req, ({ db }, ...page) => listRuns(db, ...page));
    const shown = rows.map((row) => presentPlatform(getCaller(response), row));
    response.json(presentPage('reconciliations', shown, next));
  });

  router.get('/reconciliations/:id', requireRole('viewer'), async (req: Request<{ id: string }>, response) => {
    const run = await findRun(context.db, req.params.id);
    if (!run) throw refuse('run_unknown');
    response.json(presentPlatform(getCaller(response), withoutSeq(run)));
  });

  router.get('/reconciliations/:id/pages', requireRole('viewer'), async (req: Request<{ id: string }>, response) => {
    const run = await findRun(context.db, req.params.id);
    if (!run) throw refuse('run_unknown');
    const { rows, next } = await readPage(context, req, ({ db }, ...page) => listPages(db, run.seq, ...page));
    response.json(presentPage('pages', rows, next));
  });
  return router;
}
