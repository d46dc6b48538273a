import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { reprocessWebhook } from '../../inbox/items/quarantine.ts';
import { findWebhook, listWebhooks } from '../../inbox/manage/read-webhooks.ts';
import { auditWithheldWebhooks, authorizeSearch } from '../../operations/authorize-search.ts';
import { maskWebhook } from '../../operations/mask-texts.ts';
import { withoutSeq } from '../../operations/present-row.ts';
import { refuse } from '../../texts/refuse.ts';
import {
  auditPersonalAccess,
  auditShownTransactions,
  canSeePersonalData,
  getActor,
  getCaller,
  requireRole,
} from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { presentPage, readPage } from '../parse-page.ts';
import { parseQuery } from '../parse-request.ts';

const STATES = ['pending', 'applied', 'quarantined'] as const;

export const webhookQuerySchema = z.object({
  transaction_id: z.string().min(1).optional(),
  reference: z.string().min(1).optional(),
  extra: z.string().min(1).optional(),
  state: z.enum(STATES, `must be one of ${STATES.join(', ')}`).optional(),
});

export function inboxRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/webhooks', requireRole('viewer'), async (request, response) => {
    const { transaction_id: transactionId, ...filter } = parseQuery(request, webhookQuerySchema);
    const { rows, next } = await readPage(context, request, async ({ db }, limit, after) => {
      await authorizeSearch(context, getCaller(response), { ...filter, transactionId });
      return await listWebhooks(db, { ...filter, transactionId, limit, after });
    });
    await auditPersonalAccess(context, response, 'webhooks.list', JSON.stringify(Object.keys(request.query)));
    await auditWithheldWebhooks(context, getCaller(response), filter, rows);
    response.json(presentPage('webhooks', rows, next));
  });

  router.get('/webhooks/:id', requireRole('viewer'), async (request: Request<{ id: string }>, response) => {
    await sendWebhook(context, request.params.id, response, 'webhooks.show');
  });

  router.post(
    '/webhooks/:id/reprocess',
    requireRole('operator'),
    async (request: Request<{ id: string }>, response) => {
      const webhook = await findWebhook(context.db, request.params.id);
      if (!webhook) throw refuse('webhook_unknown');
      const done = { actor: getActor(response), action: 'webhooks.reprocess', target: webhook.id };
      await auditChange(context, (inner) => reprocessWebhook(inner, webhook.seq), done);
      response.status(202);
      await sendWebhook(context, webhook.id, response);
    },
  );
  return router;
}

/** @param access the action to audit; undefined where the request was audited as a change. */
async function sendWebhook(context: Context, id: string, response: Response, access?: 'webhooks.show'): Promise<void> {
  const webhook = await findWebhook(context.db, id);
  if (!webhook) throw refuse('webhook_unknown');
  if (access !== undefined) {
    const transactions = webhook.items_detail.map((item) => item.transaction_id);
    await auditShownTransactions(context, response, access, { target: webhook.id, transactions });
  }
  response.json(withoutSeq(canSeePersonalData(response) ? webhook : await maskWebhook(context.db, webhook)));
}
