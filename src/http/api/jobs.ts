import type { Router } from 'express';
import type { Context } from '../../context.ts';
import { limitStatementTime } from '../../database/limit-statement-time.ts';
import { presentJob } from '../../timetable/present-job.ts';
import { readJobStates } from '../../timetable/read-job-states.ts';
import { requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';

/** The jobs of the timetable and how their last ticks ended. */
export function jobRoutes(context: Context): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };
  router.get('/jobs', requireRole('viewer'), async (_request, response) => {
    response.json({ jobs: (await readJobStates(reading)).map(presentJob) });
  });
  return router;
}
