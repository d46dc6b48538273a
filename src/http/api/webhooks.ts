import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { limitStatementTime } from '../../database/limit-statement-time.ts';
import { ConfereError } from '../../domain/errors.ts';
import { reprocessWebhook } from '../../inbox/items/quarantine.ts';
import { findWebhook, listWebhooks } from '../../inbox/manage/read-webhooks.ts';
import { auditFull } from '../access/audit-full.ts';
import { actorOf, allow, callerOf, seesPersons } from '../access/authorize.ts';
import { maskWebhook } from '../access/mask-texts.ts';
import { permitSearch } from '../access/search-people.ts';
import { createRouter } from '../create-router.ts';
import { cutPage, page, readNumberedPage } from '../pages.ts';
import { parseQuery } from '../validate.ts';

const STATES = ['pending', 'applied', 'quarantined'] as const;

export const webhookQuerySchema = z.object({
  transaction_id: z.string().min(1).optional(),
  reference: z.string().min(1).optional(),
  extra: z.string().min(1).optional(),
  state: z.enum(STATES, `must be one of ${STATES.join(', ')}`).optional(),
});

export function inboxRoutes(context: Context): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };
  router.get('/webhooks', allow('viewer'), async (request, response) => {
    const { transaction_id: transactionId, ...filter } = parseQuery(request, webhookQuerySchema);
    const { limit, after } = readNumberedPage(request);
    await permitSearch(context, callerOf(response), { ...filter, transactionId });
    const found = await listWebhooks(reading.db, { ...filter, transactionId, limit: limit + 1, after });
    const { rows, last } = cutPage(found, limit);
    await auditFull(context, response, 'webhooks.list', JSON.stringify(Object.keys(request.query)));
    response.json(
      page(
        'webhooks',
        rows.map(({ seq: _, ...row }) => row),
        last?.seq,
      ),
    );
  });

  router.get('/webhooks/:id', allow('viewer'), async (request: Request<{ id: string }>, response) => {
    await auditFull(context, response, 'webhooks.show', request.params.id);
    await answer(context, request.params.id, response);
  });

  router.post('/webhooks/:id/reprocess', allow('operator'), async (request: Request<{ id: string }>, response) => {
    const webhook = await findWebhook(context.db, request.params.id);
    if (!webhook) throw new ConfereError('not_found', 'there is no such webhook');
    const done = { actor: actorOf(response), action: 'webhooks.reprocess', target: webhook.id };
    await auditChange(context, (inner) => reprocessWebhook(inner, webhook.seq), done);
    response.status(202);
    await answer(context, webhook.id, response);
  });
  return router;
}

async function answer(context: Context, id: string, response: Response): Promise<void> {
  const webhook = await findWebhook(context.db, id);
  if (!webhook) throw new ConfereError('not_found', 'there is no such webhook');
  const { seq: _, ...shown } = seesPersons(response) ? webhook : await maskWebhook(context.db, webhook);
  response.json(shown);
}
