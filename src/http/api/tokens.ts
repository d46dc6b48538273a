import type { Request, Router } from 'express';
import { z } from 'zod';
import { audit } from '../../access/audit.ts';
import { createToken, listTokens, ROLES, revokeToken } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { actorOf, allow } from '../authorize.ts';
import { createRouter } from '../create-router.ts';
import { cutPage, page, readNumberedPage } from '../pages.ts';
import { parseBody } from '../validate.ts';

export const newTokenSchema = z.object({
  name: z.string().min(1).max(200).default('unnamed'),
  role: z.enum(ROLES, `must be one of ${ROLES.join(', ')}`),
});

export function tokenRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/tokens', allow('admin'), async (req, response) => {
    const { limit, after } = readNumberedPage(req);
    const { rows, last } = cutPage(await listTokens(context, limit + 1, after), limit);
    const tokens = rows.map(({ seq: _, created_at, revoked_at, ...token }) => ({
      ...token,
      created_at: created_at.toISOString(),
      revoked_at: revoked_at?.toISOString() ?? null,
    }));
    response.json(page('tokens', tokens, last?.seq));
  });

  router.post('/tokens', allow('admin'), async (req, response) => {
    const token = await createToken(context, parseBody(req, newTokenSchema));
    await audit(context, { actor: actorOf(response), action: 'tokens.create', target: token.id });
    response.status(201).json(token);
  });

  router.delete('/tokens/:id', allow('admin'), async (req: Request<{ id: string }>, response) => {
    if (!(await revokeToken(context, req.params.id))) throw new ConfereError('not_found', 'there is no such token');
    await audit(context, { actor: actorOf(response), action: 'tokens.revoke', target: req.params.id });
    response.status(204).end();
  });
  return router;
}
