/** Changes, and accesses to personal data. */
import { z } from 'zod';
import { listAudit } from '../../access/list-audit.ts';
import { defineList } from '../define-list.ts';
import { parsedInstant } from '../fields.ts';
import { auditRow } from '../rows/access.ts';

export const auditRows = defineList({
  name: 'audit',
  roles: ['admin'],
  route: '/audit',
  row: auditRow,
  filters: z.object({
    actor: z.string().min(1).optional().describe('the id of a token or a user; admin, command: without one'),
    action: z.string().min(1).optional().describe('such as tokens.create'),
    target: z
      .string()
      .min(1)
      .optional()
      .describe("an id; a transaction's also finds the lists and pages that showed its person"),
    from: parsedInstant.optional().describe('from this instant on, such as 2026-11-21T00:00:00-03:00'),
    to: parsedInstant.optional().describe('excluded'),
  }),
  read: ({ db }, { limit, after }, filter) => listAudit(db, filter, { limit, before: after }),
});
