import type { Request, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../access/audit.ts';
import { TOKEN_ROLES } from '../../access/roles.ts';
import { createToken, listTokens, revokeToken, TOKEN_NAME_CHARS_MAX } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { getActor, requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { presentPage, readPage } from '../parse-page.ts';
import { parseBody } from '../parse-request.ts';

export const newTokenSchema = z.object({
  name: z.string().min(1).max(TOKEN_NAME_CHARS_MAX).default('unnamed'),
  role: z.enum(TOKEN_ROLES, `must be one of ${TOKEN_ROLES.join(', ')}`),
  merchant: z.string().optional().describe('with the role merchant: whose portal it opens'),
  expires_at: z.iso
    .datetime({ offset: true, error: 'must be an instant: 2026-12-31T00:00:00-03:00' })
    .nullable()
    .optional()
    .describe('when it ends; null: never'),
});

/** Tokens, which open the API and the console, or the portal of one merchant. */
export function tokenRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/tokens', requireRole('admin'), async (req, response) => {
    const { rows, next } = await readPage(context, req, listTokens);
    response.json(presentPage('tokens', rows, next));
  });

  router.post('/tokens', requireRole('admin'), async (req, response) => {
    const { expires_at: expiresAt, ...request } = parseBody(req, newTokenSchema);
    const token = await auditChange(
      context,
      (inner) => createToken(inner, { ...request, expiresAt: expiresAt ? new Date(expiresAt) : undefined }),
      (made) => ({ actor: getActor(response), action: 'tokens.create', target: made.id }),
    );
    response.status(201).json(token);
  });

  router.delete('/tokens/:id', requireRole('admin'), async (req: Request<{ id: string }>, response) => {
    const done = { actor: getActor(response), action: 'tokens.revoke', target: req.params.id };
    await auditChange(context, (inner) => revokeToken(inner, req.params.id), done);
    response.status(204).end();
  });
  return router;
}
