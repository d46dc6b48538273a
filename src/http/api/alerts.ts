import type { Router } from 'express';
import { z } from 'zod';
import { ALERT_STATES, listAlerts, presentAlert } from '../../alerts/read/read-alerts.ts';
import type { Context } from '../../context.ts';
import { ALERT_KINDS } from '../../texts/alerts/alert-kinds.ts';
import { requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { presentPage, readPage } from '../parse-page.ts';
import { parseQuery } from '../parse-request.ts';

export const alertQuerySchema = z.object({
  state: z.enum(ALERT_STATES, 'must be firing or ended').optional(),
  kind: z.enum(ALERT_KINDS, 'is no kind of alert').optional(),
  severity: z.enum(['medium', 'high', 'critical'], 'must be medium, high or critical').optional(),
});

/** The alerts that fire, and those that have ended. They hold no personal data. */
export function alertRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/alerts', requireRole('viewer'), async (request, response) => {
    const filter = parseQuery(request, alertQuerySchema);
    const { rows, next } = await readPage(context, request, ({ db }, limit, after) =>
      listAlerts(db, { ...filter, limit, after }),
    );
    response.json(presentPage('alerts', rows.map(presentAlert), next));
  });
  return router;
}
