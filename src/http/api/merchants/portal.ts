/**
 * The portal's API: a merchant reads what is its own, with a token of the role `merchant`. Each handler has the scope of its
 * request and no database. Its changes are in src/operations/merchants/portal.ts.
 */
import type { Request, Router } from 'express';
import { z } from 'zod';
import { UNDELIVERED } from '../../../callbacks/health/count-undelivered.ts';
import { CALLBACK_STATES } from '../../../callbacks/manage/read-callbacks.ts';
import type { Delivery } from '../../../callbacks/manage/read-delivery.ts';
import { TESTS } from '../../../callbacks/manage/read-own-callbacks.ts';
import { presentOwnMerchant } from '../../../merchants/present-merchant.ts';
import { day } from '../../../operations/fields.ts';
import type { MerchantScope } from '../../../portal/open-scope.ts';
import { OWN_ACTIONS } from '../../../portal/read-own-history.ts';
import { refuse } from '../../../texts/refuse.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { parsePage, presentPage } from '../../parse-page.ts';
import { parseQuery } from '../../parse-request.ts';

/** Characters of the texts by which a merchant finds its messages. */
export const OWN_CALLBACK_CHARS_MAX = {
  about: 512,
  reference: 512,
  extra: 2048,
  transaction_id: 128,
  type: 128,
} as const;
const { about, reference, extra, transaction_id, type } = OWN_CALLBACK_CHARS_MAX;

export const ownCallbackQuerySchema = z.object({
  about: z
    .string()
    .max(about)
    .optional()
    .describe('a webhook-id; the id, reference or e2e_id of a transaction; the id or number of an order'),
  tests: z.enum(TESTS).optional().describe('tests and examples: left out, or alone'),
  reference: z.string().max(reference).optional(),
  extra: z.string().max(extra).optional(),
  transaction_id: z.string().max(transaction_id).optional(),
  state: z.enum(CALLBACK_STATES).optional(),
  type: z.string().max(type).optional(),
  from: day.optional().describe('the first day of their creation'),
  to: day.optional().describe('the last day of their creation'),
});

export const ownChangeQuerySchema = z.object({ action: z.enum(OWN_ACTIONS).optional() });

/** Routes that a merchant reads. Mount them behind the authentication of merchants. */
export function portalRoutes(): Router {
  const router = createRouter();
  router.get('/portal', (_request, response) => void response.json(presentOwnMerchant(getScope(response).merchant)));
  router.get('/portal/health', async (_request, response) => {
    const scope = getScope(response);
    response.json(presentHealth(scope, await scope.readDelivery()));
  });
  router.get('/portal/address-changes', async (_request, response) => {
    response.json({ address_changes: await getScope(response).listAddressChanges() });
  });
  router.get('/portal/changes', async (request, response) => {
    const found = await getScope(response).listHistory(parseQuery(request, ownChangeQuerySchema), parsePage(request));
    response.json(presentPage('changes', found.changes, found.next));
  });
  router.get('/portal/callbacks', async (request, response) => {
    const { transaction_id: transactionId, ...query } = parseQuery(request, ownCallbackQuerySchema);
    const found = await getScope(response).listCallbacks({ ...query, transactionId }, parsePage(request));
    response.json(presentPage('callbacks', found.callbacks, found.next));
  });
  router.get('/portal/callbacks/:id', async (request: Request<{ id: string }>, response) => {
    const { callback, attempts, message } = await getScope(response).showCallback(request.params.id);
    response.json({ ...callback, message: message ?? null, attempt_list: attempts });
  });
  router.use('/portal', () => {
    throw refuse('address_unknown');
  });
  return router;
}

function presentHealth({ merchant, hold }: MerchantScope, delivery: Delivery) {
  const { lastFailure, lastSuccessAt, nextAttemptAt, unplanned, counts, hours, allSince } = delivery;
  return {
    state: merchant.state,
    held_because: hold ?? null,
    failing_since: merchant.failing_since?.toISOString() ?? null,
    next_attempt_at: nextAttemptAt?.toISOString() ?? null,
    unplanned_because: unplanned ?? null,
    undelivered: Object.fromEntries(UNDELIVERED.map((one) => [one, counts[one].n + Number(counts[one].isMore)])),
    last_success_at: lastSuccessAt?.toISOString() ?? null,
    last_failure: lastFailure
      ? {
          ...{ at: lastFailure.at.toISOString(), callback: lastFailure.webhookId },
          ...{ response_status: lastFailure.status, error_class: lastFailure.errorClass },
          response_body: lastFailure.body,
        }
      : null,
    all_since: allSince?.toISOString() ?? null,
    hours: hours.map(({ start, attempts, delivered, p50, p95 }) => ({
      ...{ start: start.toISOString(), attempts, delivered },
      ...{ p50_ms: p50 ?? null, p95_ms: p95 ?? null },
    })),
  };
}
