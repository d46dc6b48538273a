import type { Router } from 'express';
import { z } from 'zod';
import { listAudit } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { limitStatementTime } from '../../database/limit-statement-time.ts';
import { requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { parseNumberedPage, presentPage, trimPage } from '../parse-page.ts';
import { parseQuery } from '../parse-request.ts';

const instant = z.iso
  .datetime({ offset: true, error: 'must be an instant: 2026-11-21T00:00:00-03:00' })
  .transform((text) => new Date(text));

export const auditQuerySchema = z.object({
  actor: z.string().min(1).optional().describe("a token's id; admin, command: without one"),
  action: z.string().min(1).optional(),
  target: z.string().min(1).optional(),
  from: instant.optional(),
  to: instant.optional().describe('excluded'),
});

/** Who did what, and who saw whose data. */
export function auditRoutes(context: Context): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };
  router.get('/audit', requireRole('admin'), async (request, response) => {
    const filter = parseQuery(request, auditQuerySchema);
    const { limit, after: before } = parseNumberedPage(request);
    const { rows, last } = trimPage(await listAudit(reading.db, filter, { limit: limit + 1, before }), limit);
    response.json(
      presentPage(
        'audit',
        rows.map(({ seq: _, ...row }) => row),
        last?.seq,
      ),
    );
  });
  return router;
}
