import type { Request, Router } from 'express';
import { presentAttempt, presentCallback } from '../../../callbacks/manage/present-callback.ts';
import { findCallback, listAttempts } from '../../../callbacks/manage/read-callbacks.ts';
import type { Context } from '../../../context.ts';
import { findMerchant } from '../../../merchants/read-merchants.ts';
import { presentMerchantTo } from '../../../operations/mask-texts.ts';
import { auditShownTransactions, canSeePersonalData, getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';

/** One merchant; one callback with its attempts. */
export function merchantRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/merchants/:id', requireRole('viewer'), async (request: Request<{ id: string }>, response) => {
    response.json(presentMerchantTo(getCaller(response), await findMerchant(context.db, request.params.id)));
  });
  router.get('/callbacks/:id', requireRole('viewer'), async (request: Request<{ id: string }>, response) => {
    const { id } = request.params;
    const callback = await findCallback(context.db, id);
    const attempts = await listAttempts(context.db, callback.seq);
    const withBody = canSeePersonalData(response);
    const list = attempts.map((attempt) => presentAttempt(attempt, { withBody }));
    // a merchant's response is free text, and may name people
    const transactions = [callback.transaction_id];
    await auditShownTransactions(context, response, 'callbacks.show', { target: id, transactions });
    response.json({ ...presentCallback(callback), attempt_list: list });
  });
  return router;
}
