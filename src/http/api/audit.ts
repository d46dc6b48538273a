import type { Router } from 'express';
import { z } from 'zod';
import { listAudit } from '../../access/list-audit.ts';
import type { Context } from '../../context.ts';
import { instant } from '../../operations/fields.ts';
import { requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { presentPage, readPage } from '../parse-page.ts';
import { parseQuery } from '../parse-request.ts';

const parsedInstant = instant.transform((text) => new Date(text));

export const auditQuerySchema = z.object({
  actor: z.string().min(1).optional().describe('the id of a token or a user; admin, command: without one'),
  action: z.string().min(1).optional(),
  target: z
    .string()
    .min(1)
    .optional()
    .describe("an id; a transaction's also finds the lists and pages that showed its person"),
  from: parsedInstant.optional(),
  to: parsedInstant.optional().describe('excluded'),
});

/** The audit log: changes, and accesses to personal data. */
export function auditRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/audit', requireRole('admin'), async (request, response) => {
    const filter = parseQuery(request, auditQuerySchema);
    const { rows, next } = await readPage(context, request, ({ db }, limit, before) =>
      listAudit(db, filter, { limit, before }),
    );
    response.json(presentPage('audit', rows, next));
  });
  return router;
}
